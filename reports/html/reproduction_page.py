"""The page about runs on the real scheduler: the model's steps and changes on the left, what the scheduler did and what changed there on the right."""

from __future__ import annotations

from collections.abc import Sequence

from ..reproduction import RealStep, Reproduction
from ..step import show
from ..text.reproduction_text import real_words, remarks
from .elements import Markup, el, join
from .page import framed

BADGES = {"REPRODUCED": "violated", "HOLDS": "holds", "NOT THERE": "holds"}

STYLE = """
.real td { min-width: 16rem; }
.real ul { margin: .2rem 0 0; padding-left: 1.1rem; }
.real tr.differing { background: var(--open-soft); }
.real .points { color: var(--muted); font-size: .85rem; }
"""


def to_html(found: Sequence[Reproduction]) -> str:
    """One self-contained page; the same reproductions give the same bytes."""
    names = list(dict.fromkeys(one.title or one.name for one in found))
    reproduced = sum(one.is_reproduced for one in found)
    lead = f"{reproduced} of {len(found)} counterexamples reproduced on kube-scheduler's own code."
    return framed(
        names[0] if len(names) == 1 else "Counterexamples on the real scheduler",
        summary=el("p", lead, class_="lead"),
        verdicts=_verdicts(found),
        sections=join(*(_section(one, number) for number, one in enumerate(found, 1))),
        style=STYLE,
    )


def badge(one: Reproduction) -> Markup:
    """The verdict, in words that do not depend on colour."""
    return el("span", one.headline, class_=f"badge {BADGES.get(one.verdict, 'inconclusive')}")


def _verdicts(found: Sequence[Reproduction]) -> Markup:
    head = (el("th", name, scope="col") for name in ("what", "property", "version", "steps", "verdict"))
    rows = [
        el(
            "tr",
            el("td", one.name),
            el("th", el("a", one.property, href=f"#finding-{number}"), scope="row"),
            el("td", one.scheduler),
            el("td", f"{one.forced} of {len(one.steps)}" if one.steps else "", class_="number"),
            el("td", badge(one)),
        )
        for number, one in enumerate(found, 1)
    ]
    table = el("table", el("thead", el("tr", *head)), el("tbody", *rows), class_="verdicts")
    return el("div", table, class_="scroll", role="region", aria_label="Verdicts", tabindex=0)


def _section(one: Reproduction, number: int) -> Markup:
    name = f"finding-{number}"
    head = el(
        "header",
        el("h2", one.title or one.name, id=f"{name}-title"),
        el("p", badge(one), f" {one.property} · {one.name} · kube-scheduler {one.scheduler}", class_="meta"),
        el("p", one.sentence, class_="sentence") if one.sentence else None,
    )
    closing = [el("p", line) for line in one.consequence]
    body = join(
        _table(one) if one.steps else None,
        el("p", one.words, class_="words"),
        el("div", el("h3", "What followed"), *closing, class_="outcome") if closing else None,
        *(el("p", line, class_="meta") for line in remarks(one)),
    )
    return el("section", head, body, id=name, class_="finding", aria_labelledby=f"{name}-title")


def _table(one: Reproduction) -> Markup:
    head = el(
        "tr",
        el("th", "step", scope="col"),
        el("th", f"model of {one.release}", scope="col"),
        el("th", f"kube-scheduler {one.scheduler}", scope="col"),
    )
    rows = []
    for step in one.steps:
        if one.loop_from == step.step.number:
            rows.append(
                el("tr", el("th", "", scope="row"), el("td", "indefinitely:", colspan=2, class_="nothing"))
            )
        rows.append(_row(step, one))
    label = "The model and the real scheduler, step by step"
    table = el("table", el("caption", label), el("thead", head), el("tbody", *rows), class_="schedule real")
    return el("div", table, class_="scroll", role="region", aria_label=label, tabindex=0)


def _row(step: RealStep, one: Reproduction) -> Markup:
    number = el("th", str(step.step.number), scope="row")
    model = [el("p", step.step.sentence), _changes({c.variable: show(c.after) for c in step.step.changes})]
    if not step.forced:
        why = "cannot be forced" if one.at == step.step.number else "not tried"
        return el("tr", number, el("td", *model), el("td", why, class_="nothing"))
    real = [
        el("p", real_words(step), class_="points"),
        _changes({variable: show(value) for variable, value in step.real.items()}),
        *(el("p", d.words, class_="note") for d in step.differs),
    ]
    class_ = "differing" if step.differs else None
    return el("tr", number, el("td", *model), el("td", *real), class_=class_)


def _changes(changes: dict[str, str]) -> Markup:
    if not changes:
        return join()
    return el("ul", *(el("li", el("code", f"{variable} = {value}")) for variable, value in changes.items()))
