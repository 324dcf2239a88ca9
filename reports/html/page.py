"""The whole page: the frame, the verdicts, and a section per finding."""

from collections.abc import Sequence
from importlib.resources import files
from string import Template

from ..document import ABOUT, Finding, about_of
from ..filtered import text_filtered
from .compare import comparisons
from .elements import Markup, el, join
from .finding import section
from .verdicts import verdict_table


def to_html(findings: Sequence[Finding]) -> str:
    """One self-contained page about these findings; the same findings give the same bytes."""
    return framed(
        _title(findings),
        summary=_summary(findings),
        verdicts=verdict_table(findings),
        comparisons=comparisons(findings),
        sections=join(_about(findings), *(section(f, n) for n, f in enumerate(findings, 1))),
    )


@text_filtered
def framed(
    title: str,
    *,
    summary: Markup,
    verdicts: Markup,
    sections: Markup,
    comparisons: Markup | None = None,
    style: str = "",
) -> str:
    """A page with these parts in the frame that all pages have. `style` is what it has beyond their style sheet."""
    page = Template(_file("page.html"))
    return page.substitute(
        title=join(title),
        style=style_sheet() + style,
        script=_file("page.js").strip(),
        summary=summary,
        verdicts=verdicts,
        comparisons=join(comparisons),
        sections=sections,
    )


def style_sheet() -> str:
    """The style sheet of all pages."""
    return _file("page.css").strip()


def _about(findings: Sequence[Finding]) -> Markup | None:
    """What of Kubernetes objects was kept, left out and abstracted."""
    lines = about_of(findings)
    if not lines:
        return None
    words = [el("p", line) for line in lines]
    return el("section", el("h2", ABOUT), *words, class_="finding about")


def _title(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(f.title or f.scenario for f in findings))
    return names[0] if len(names) == 1 else "Races in the Kubernetes scheduler"


def _summary(findings: Sequence[Finding]) -> Markup:
    counts = {
        word: sum(f.verdict == word for f in findings)
        for word in ("VIOLATED", "INCONCLUSIVE", "HOLDS", "IGNORED")
    }
    words = {"VIOLATED": "violated", "INCONCLUSIVE": "undecided", "HOLDS": "holding", "IGNORED": "ignored"}
    told = ", ".join(f"{count} {words[word]}" for word, count in counts.items() if count)
    vacuous = sum(f.vacuous for f in findings)
    told += f"; {vacuous} vacuous, as nothing tested {'it' if vacuous == 1 else 'them'}" if vacuous else ""
    less = sum(f.qualified and not f.vacuous for f in findings)
    told += f"; in {less} something that was asked for never acted" if less else ""
    noun = "property was" if len(findings) == 1 else "properties were"
    return el(
        "p", f"{len(findings)} {noun} checked: {told}." if findings else "Nothing was checked.", class_="lead"
    )


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
