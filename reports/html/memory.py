"""What each component knows in one state, as a table: a row per component, a column per pod and node."""

from collections.abc import Mapping

from ...base.text import listed
from ..document import Finding
from ..evidence import Memory
from ..facts_told import Changed, Disputed, event_words, facts_told
from ..states import State, changed_facts, differences
from ..step import Value
from .elements import Markup, el, join, scrolling


def memory_table(finding: Finding, before: State | None, state: State) -> Markup:
    """The views of a state. What is new since `before` is marked as changed, what views do not agree on as disputed."""
    memory = finding.memory
    assert memory is not None
    columns = _columns(finding)
    changed = changed_facts(before, state) if before is not None else set()
    disputed = {(d.subject, fact) for d in differences(memory, state) for fact in d.facts}
    rows = []
    for view, facts in state.views.items():
        own = [s for s in (facts or {}) if s not in columns]
        about = [(s, _facts(view, s, (facts or {})[s], changed, frozenset(), memory)) for s in own]
        named = (join(None if s.startswith("the ") else el("b", s), a) for s, a in about if a)
        head = el("th", el("span", view), *named, scope="row")
        if facts is None:
            rows.append(el("tr", head, el("td", "not taken", class_="nothing", colspan=len(columns))))
            continue
        cells = [
            el(
                "td",
                (_facts(view, s, facts[s], changed, disputed, memory) if s in facts else None)
                or el("span", "–", class_="nothing"),
                data_column=s,
            )
            for s in columns
        ]
        rows.append(el("tr", head, *cells))
    names = [el("th", name, scope="col") for name in columns]
    table = el(
        "table",
        el("caption", "What each component knows"),
        el("thead", el("tr", el("th", "component", scope="col"), *names)),
        el("tbody", *rows),
        class_="memory",
    )
    return scrolling(table, "What each component knows")


def channels(state: State, memory: Memory) -> Markup | None:
    """The events that somebody has still to be told of; None if there are none."""
    lists = []
    for name, events in state.channels.items():
        items = []
        for event in events:
            if not event.waits_for:
                continue
            items.append(
                el(
                    "li",
                    el("b", event.subject),
                    f": {event_words(event.facts, memory)} ",
                    el("span", f"→ still to reach {listed(event.waits_for)}", class_="waits"),
                )
            )
        if items:
            lists.append(join(el("h5", f"On its way on the {name}"), el("ol", *items, class_="events")))
    return el("div", *lists, class_="channels") if lists else None


def _columns(finding: Finding) -> list[str]:
    """Pods, then nodes; without a cluster whatever views speak of."""
    assert finding.memory is not None
    if finding.cluster is not None:
        pods = [pod.name for pod in finding.cluster.pods]
        return [*pods, *(f"node {node.name}" for node in finding.cluster.nodes)]
    return list(dict.fromkeys(cell.subject for view in finding.memory.views for cell in view.cells))


def _facts(
    view: str, subject: str, facts: Mapping[str, Value], changed: Changed, disputed: Disputed, memory: Memory
) -> Markup | None:
    chips = []
    for fact in facts_told(view, subject, facts, changed, disputed, memory):
        kinds = [k for k, on in (("changed", fact.changed), ("disputed", fact.disputed)) if on]
        notes = [
            n for n, on in (("changed by this step", fact.changed), ("views differ", fact.disputed)) if on
        ]
        chips.append(
            el(
                "span",
                fact.text,
                el("span", f" ({', '.join(notes)})", class_="sr") if notes else None,
                class_=" ".join(["fact", *kinds]),
                title=", ".join(notes) or None,
            )
        )
    return join(*chips) if chips else None
