"""What `podrace prove` says: the verdict on all clusters up to a size, and on what it rests."""

import builtins

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...base.text import counted, plural
from ...reports.verdict_words import idle_words, time_words
from ..document import Answer, Finding, WithScales
from ..text.findings_text import INDENT, print_headed, print_lines, print_versions, print_wrapped, scope_words
from ..text.story_text import print_counterexample
from ..text.table import VACUOUS_STYLE, VERDICT_STYLES
from .ask_report import STYLES as ORDER_STYLES
from .ask_report import AskAnswer

STYLES = {**VERDICT_STYLES, "HOLDS FOR ALL": VERDICT_STYLES["HOLDS"], **ORDER_STYLES}
ORDERS = {"VIOLATED": "POSSIBLE", "HOLDS FOR ALL": "IMPOSSIBLE", "INCONCLUSIVE": "INCONCLUSIVE"}
"""What a verdict means where the property says that an order of steps never happens."""


SHOWN = 3
"""Of how many groups the simplest cluster is shown with its counterexample."""


class Row(msgspec.Struct, frozen=True):
    """The clusters of one template: how many can be told apart, and what came out."""

    pods: int
    nodes: int
    placement: str
    clusters: int
    states: int
    violated: int
    inconclusive: int


class ViolatingGroup(msgspec.Struct, frozen=True):
    """Clusters whose shortest counterexamples take the same steps; `example` is the simplest of them, in words.

    `finding` is its verdict by itself, as `podrace check` gives it for `scenario`, the text of a scenario file. `unwritten` says why there is
    no such text.
    """

    clusters: int
    example: str
    steps: int
    scenario: str
    finding: Finding | None = None
    unwritten: str = ""


class Proof(Answer, frozen=True):
    """The verdict on one property of all clusters up to a size.

    `distinct` is how many of the states differ. `stopped`: podrace was told to end before all was explored.
    `question` has the items of a question about the order of steps, with every choice of pods and nodes; `why` is its answer in one cluster, where it is possible in none.
    `altered` is what of the question patches alter, if they do.
    `with_scales` is there where minutes pass amid shorter work in each counterexample that is shown: what comes out of all clusters of the violating placements.
    `parts` is into how many parts a placement was divided at most: a state that several of them reach differs in each.
    """

    property: str
    release: str
    verdict: str
    pods: int
    nodes: int
    clusters: int
    states: int
    transitions: int
    depth: int
    violated: int
    inconclusive: int
    seconds: float
    covers: str
    rows: tuple[Row, ...]
    groups: tuple[ViolatingGroup, ...]
    witnesses_reached: tuple[str, ...] = ()
    witnesses_missed: tuple[str, ...] = ()
    steps_never_fired: tuple[str, ...] = ()
    never_acted: dict[str, str] = msgspec.field(default_factory=dict)
    gangs: tuple[int, ...] = ()
    distinct: int = 0
    parts: int = 1
    short_of_memory: bool = False
    altered: str = ""
    stopped: bool = False
    question: tuple[str, ...] = ()
    why: AskAnswer | None = None
    with_scales: WithScales | msgspec.UnsetType = msgspec.UNSET

    @builtins.property
    def answer(self) -> str:
        """The verdict; of a question about the order of steps, whether it is possible in some cluster."""
        return ORDERS[self.verdict] if self.question else self.verdict

    @builtins.property
    def vacuous(self) -> bool:
        """Whether it holds, but some witness was reached in no cluster."""
        return self.verdict == "HOLDS FOR ALL" and bool(self.witnesses_missed)

    @builtins.property
    def mark(self) -> str:
        """What takes away from the verdict: nothing tested it, or it needs a delay."""
        if self.vacuous:
            return "vacuous"
        if self.never_acted:
            return f"{len(self.never_acted)} never acted"
        return self.with_scales.mark if self.with_scales else ""

    @builtins.property
    def marked(self) -> str:
        """The verdict, and in brackets what takes away from it."""
        return f"{self.answer} ({self.mark})" if self.mark else self.answer


def print_proof(console: Console, proof: Proof, whole: bool = False) -> None:
    """Print a proof; of the groups, the simplest with their counterexamples, as a `whole` also in lanes."""
    what = "" if proof.question else f"{proof.property} on "
    style = VACUOUS_STYLE if proof.vacuous or proof.never_acted else STYLES[proof.answer]
    print_headed(console, f"{what}{proof.release}, up to {size(proof)}:", proof.marked, style)
    for number, item in enumerate(proof.question, 1):
        print_wrapped(console, Text(f"{number}. {item}", "italic"), f"{INDENT}   ", INDENT)
    if proof.sentence and not proof.question:
        print_wrapped(console, proof.sentence, INDENT)
    print_wrapped(console, verdict_words(proof), INDENT)
    if proof.stopped and not proof.clusters:
        return
    if proof.short_of_memory:
        print_wrapped(console, memory_words(proof), INDENT)
    print_wrapped(console, f"Covers {proof.covers}.", INDENT)
    print_wrapped(console, f"Scope: {scope_words(proof.scope)}.", INDENT)
    print_versions(console, [proof.version], INDENT)
    if proof.constraints_hit:
        print_wrapped(console, f"Constraints that were hit: {', '.join(proof.constraints_hit)}.", INDENT)
    if proof.witnesses_reached:
        prefix = "Not vacuous" if proof.verdict == "HOLDS FOR ALL" and not proof.vacuous else "Reached"
        print_wrapped(console, f"{prefix}: {'; '.join(proof.witnesses_reached)}.", INDENT)
    if proof.witnesses_missed:
        print_wrapped(console, f"Reached in no cluster: {'; '.join(proof.witnesses_missed)}.", INDENT)
    print_lines(console, idle_words(proof.never_acted), INDENT)
    if proof.steps_never_fired:
        print_wrapped(console, f"Steps that never ran: {', '.join(proof.steps_never_fired)}.", INDENT)
    print_lines(console, (f"note: {note}" for note in proof.notes), INDENT, style="dim")
    console.print()
    _print_rows(console, proof)
    if proof.why is not None:
        console.print()
        print_wrapped(console, Text("Why, in one of them:", "bold"))
        proof.why.print(console, whole)
    for number, group in enumerate(proof.groups, 1):
        if number > SHOWN:
            left = len(proof.groups) - SHOWN
            print_wrapped(console, f"{left} more {plural(left, 'group')}: see -o json or --examples")
            break
        console.print()
        _print_group(console, number, group, whole)


def size(proof: Proof) -> str:
    """For example `3 pods and 2 nodes`."""
    if not proof.gangs:
        return f"{counted(proof.pods, 'pod')} and {counted(proof.nodes, 'node')}"
    gangs = " and ".join(f"a gang of {size}" for size in proof.gangs)
    nodes = f"{counted(proof.nodes, 'node')}"
    return f"{proof.pods} single {plural(proof.pods, 'pod')} on {nodes}, next to {gangs}"


def verdict_words(proof: Proof) -> str:
    """What the verdict rests on, in a sentence or two."""
    told = f"{counted(proof.clusters, 'cluster')} can be told apart"
    if proof.question:
        told = f"{counted(proof.clusters, 'choice')} of a cluster, and of its pods and nodes that the names stand for, can be told apart"
    searched = (
        f"{proof.states:,} states and {proof.transitions:,} transitions in all, {proof.depth} steps deep"
    )
    if proof.distinct:
        searched += f", of which {proof.distinct:,} states differ" + (
            " within their part" if proof.parts > 1 else ""
        )
    if proof.verdict == "HOLDS FOR ALL":
        slow = str(proof.scope.get("slow", ""))
        assumed = f" Assumed: {time_words(slow)}." if "time" in proof.scope else ""
        return f"{told}; each was explored to the end: {searched}.{assumed}"
    violating = f"{proof.violated:,} of them {'is' if proof.violated == 1 else 'are'} violating"
    if proof.question:
        violating = f"in {proof.violated:,} of them it is possible"
    if proof.verdict == "VIOLATED":
        more = f"; {proof.inconclusive:,} could not be decided" if proof.inconclusive else ""
        slow = f" {delay_words(proof.with_scales)}" if proof.with_scales else ""
        return f"{told}; {violating}{more} ({searched}).{slow}"
    if not proof.clusters:
        return "Nothing was decided."
    it_holds = "it is not possible" if proof.question else "it holds"
    if not proof.inconclusive:
        return f"{told} so far, in which {it_holds}, and not all were explored ({searched})."
    return f"{told}; {proof.inconclusive:,} could not be decided within the budget, in the others {it_holds} ({searched})."


def delay_words(found: WithScales) -> str:
    """What comes out with scales of time, in a sentence."""
    if found.verdict == "HOLDS":
        return (
            f"Only with a delay of minutes: with `--time scales` none is ({counted(found.states, 'state')})."
        )
    if found.verdict == "VIOLATED":
        return "With `--time scales` some are, too, without a delay of minutes."
    return f"Not decided whether only with a delay of minutes: with `--time scales` the search was stopped after {counted(found.states, 'state')}."


def memory_words(proof: Proof) -> str:
    """What memory left undecided, and how to go on."""
    told = f"{counted(proof.clusters, 'cluster')}"
    return (
        f"Memory ran out: of the {told} told apart so far, {proof.clusters - proof.inconclusive:,} "
        f"{'is' if proof.clusters - proof.inconclusive == 1 else 'are'} decided. "
        "To decide more, allow more with --max-memory, or divide large placements with --parts."
    )


def _print_rows(console: Console, proof: Proof) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("pods", "nodes"):
        table.add_column(name, justify="right")
    table.add_column("at the start")
    for name in ("clusters", "states", "possible" if proof.question else "violating", "undecided"):
        table.add_column(name, justify="right")
    for r in proof.rows:
        counts = (r.clusters, r.states, r.violated, r.inconclusive)
        table.add_row(str(r.pods), str(r.nodes), r.placement, *(f"{n:,}" for n in counts))
    console.print(table)


def _print_group(console: Console, number: int, group: ViolatingGroup, whole: bool) -> None:
    what = f"{counted(group.clusters, 'cluster')}, {group.steps} steps"
    print_wrapped(console, Text(f"Group {number}: {what}; the simplest: {group.example}", "bold"))
    if group.unwritten:
        print_wrapped(console, Text(f"note: {group.unwritten}", "dim"), INDENT)
    if group.finding is not None and group.finding.story:
        print_counterexample(console, group.finding, whole)
