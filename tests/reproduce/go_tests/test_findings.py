"""The pages of findings: their generated parts, and that docs/hazards.md leads to each."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
FINDINGS = sorted(
    p for p in (DOCS / "findings").glob("*.md") if "<!-- steps -->" in p.read_text(encoding="utf-8")
)
LONG = ("announced",)


def says(page: Path) -> str:
    """What the page cites of its test's output."""
    found = re.search(r"<!-- says -->\n\s*(.*?)\s*\n<!-- /says -->", page.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


@pytest.mark.representatives(8)
@pytest.mark.parametrize(
    "page", [pytest.param(p, id=p.stem, marks=[pytest.mark.ci] if p.stem in LONG else []) for p in FINDINGS]
)
def test_the_generated_parts_are_up_to_date(page: Path) -> None:
    builder = runpy.run_path(str(DOCS / "build_findings.py"))
    assert builder["page"](page.stem, builder["prepared"](page.stem)) == page.read_text(encoding="utf-8")


def test_the_list_of_findings_is_up_to_date() -> None:
    builder = runpy.run_path(str(DOCS / "build_findings.py"))
    assert builder["index"]() == (DOCS / "findings" / "README.md").read_text(encoding="utf-8")


FORM = ["What happens", "What a user sees", "Step by step", "A test that fails", "Proposed change"]


@pytest.mark.parametrize("page", sorted((DOCS / "findings").glob("[a-z]*.md")), ids=lambda page: page.stem)
def test_all_findings_have_one_form(page: Path) -> None:
    """A finding about a plugin has no steps of the model."""
    headings = re.findall("^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [name for name in FORM if page in FINDINGS or name != "Step by step"]


def test_every_finding_without_an_upstream_number_has_a_page() -> None:
    hazards = (DOCS / "hazards.md").read_text(encoding="utf-8")
    assert {p.stem for p in FINDINGS} == set(re.findall(r"\]\(findings/([a-z-]+)\.md\)", hazards))
    table = hazards.partition("## What was found")[2].partition("## ")[0]
    unnumbered = [line for line in table.splitlines() if ", unknown upstream" in line]
    by_name = hazards.partition("says what the scheduler finds by name:\n\n")[2].partition("\n\n")[0]
    named = [line for line in by_name.splitlines() if "(findings/" in line]
    assert (len(unnumbered), len(named)) == (11, 8)
    assert all("(findings/" in line for line in unnumbered)


@pytest.mark.parametrize("page", FINDINGS, ids=[p.stem for p in FINDINGS])
def test_a_page_cites_its_test(page: Path) -> None:
    assert says(page)
