"""The table of verdicts."""

from collections.abc import Sequence

from ..document import Finding
from ..text.table import columns_of
from .elements import Markup, el, join, scrolling

NUMBERS = frozenset({"states", "transitions", "depth"})


def verdict_table(findings: Sequence[Finding]) -> Markup:
    """One row per finding, each with a link to its section. Without times, so that the same input gives the same page."""
    if not findings:
        return Markup("")
    columns = {name: cells for name, cells in columns_of(findings).items() if name != "time"}
    head = (el("th", name, scope="col", class_="number" if name in NUMBERS else None) for name in columns)
    rows = []
    for i, finding in enumerate(findings):
        cells = [_cell(name, texts[i], finding, i + 1) for name, texts in columns.items()]
        rows.append(el("tr", *cells))
    table = el("table", el("thead", el("tr", *head)), el("tbody", *rows), class_="verdicts")
    return scrolling(table, "Verdicts")


def _cell(name: str, text: str, finding: Finding, number: int) -> Markup:
    if name == "verdict":
        return el("td", badge(finding))
    if name == "property":
        return el("th", el("a", text, href=f"#finding-{number}"), scope="row")
    return el("td", text, class_="number" if name in NUMBERS else None)


def badge(finding: Finding) -> Markup:
    """The verdict, in words that do not depend on colour."""
    kind = "vacuous" if finding.qualified else finding.verdict.lower()
    return el("span", finding.marked, class_=f"badge {kind}")


def links(issues: Sequence[int]) -> Markup:
    """Links to upstream's issues."""
    made = [
        el("a", f"kubernetes/kubernetes#{n}", href=f"https://github.com/kubernetes/kubernetes/issues/{n}")
        for n in issues
    ]
    return join(*(piece for i, link in enumerate(made) for piece in ((", ", link) if i else (link,))))
