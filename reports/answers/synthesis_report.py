"""The report of `podrace synthesize`: each cluster that was found with its counterexample, and how far the search went."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ..document import Answer, ShownStep, Word
from ..text.findings_text import INDENT, print_versions, print_wrapped
from ..text.lanes_text import print_lanes
from ..text.table import VERDICT_STYLES, seconds


class SmallestCluster(Answer, frozen=True):
    """A cluster in which a property is violated by a run as short as can be; `scenario` is the text of its file."""

    heading: str
    issues: tuple[int, ...]
    words: str
    steps: tuple[ShownStep, ...]
    scenario: str

    @property
    def cluster(self) -> list[str]:
        """The lines of the scenario that say what the cluster is."""
        return [line for line in self.scenario.splitlines() if not line.startswith(("#", "name:", "title:"))]


class SynthesisCoverage(Answer, frozen=True):
    """How far the search went: in which clusters, and within how many steps, there is no (further) violation."""

    heading: str
    verdict: Word
    words: str
    seconds: float


def print_example(console: Console, found: SmallestCluster) -> None:
    """Print a cluster that breaks a property, as a scenario writes it, and the run that does so."""
    print_wrapped(console, Text(f"{found.heading} ", "bold").append("VIOLATED", VERDICT_STYLES["VIOLATED"]))
    print_wrapped(console, Text(found.sentence), INDENT)
    if found.issues:
        links = ", ".join(f"kubernetes/kubernetes#{number}" for number in found.issues)
        print_wrapped(console, Text(f"see {links}", "dim"), INDENT)
    console.print()
    for line in found.cluster:
        console.print(Text(INDENT + line, "cyan"), soft_wrap=True)
    console.print()
    print_lanes(console, found.steps)
    console.print()
    print_wrapped(console, Text(found.words, "bold"), INDENT)
    print_versions(console, [found.version], INDENT)
    console.print()


def print_coverage(console: Console, coverage: SynthesisCoverage) -> None:
    """Print what is known where no (further) cluster was found."""
    heading = Text(f"{coverage.heading} ", "bold")
    print_wrapped(console, heading.append(coverage.verdict, VERDICT_STYLES[coverage.verdict]))
    print_wrapped(console, Text(f"{coverage.words} ({seconds(coverage.seconds)})"), INDENT)
    print_versions(console, [coverage.version], INDENT)
    for note in coverage.notes:
        print_wrapped(console, Text(f"note: {note}", "dim"), INDENT)
