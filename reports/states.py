"""What every component knows before the first step of a counterexample and after each of them; where they differ."""

from collections.abc import Iterable, Mapping

from ..base.structs import Data
from .document import Finding
from .evidence import Cell, Memory, ShownChannel, View
from .step import Value, says_something

Facts = Mapping[str, Mapping[str, Value]]
"""By subject and fact."""


class Event(Data):
    """An event on its way: of what it tells, what it says, and whom it has still to reach."""

    subject: str
    facts: Mapping[str, Value]
    waits_for: tuple[str, ...]


class State(Data):
    """What each view says (None: it is not there now), and the events in each channel, oldest first."""

    views: Mapping[str, Facts | None]
    channels: Mapping[str, tuple[Event, ...]]


class ViewDifference(Data):
    """Views that do not agree on a subject: the facts in question, and what each view says of them."""

    subject: str
    facts: tuple[str, ...]
    said: Mapping[str, Mapping[str, Value]]


def states_of(finding: Finding) -> list[State]:
    """One more state than the story of the finding has steps; empty if it does not tell what components know."""
    if finding.memory is None:
        return []
    values = _initial(finding.memory)
    states = [_state(finding.memory, values)]
    for step in finding.story:
        values.update((change.variable, change.after) for change in step.changes)
        states.append(_state(finding.memory, values))
    return states


def state_of(memory: Memory) -> State:
    """What components know in the state in which a memory begins."""
    return _state(memory, _initial(memory))


def differences(memory: Memory, state: State) -> list[ViewDifference]:
    """Where views do not agree on a fact on which they ought to, subject by subject."""
    subjects = dict.fromkeys(subject for facts in state.views.values() if facts for subject in facts)
    found = []
    for subject in subjects:
        said = {view: facts[subject] for view, facts in state.views.items() if facts and subject in facts}
        disputed = tuple(f for f in memory.compared if len({v[f] for v in said.values() if f in v}) > 1)
        if disputed:
            about = {view: {f: v[f] for f in disputed if f in v} for view, v in said.items()}
            found.append(
                ViewDifference(subject, disputed, {view: facts for view, facts in about.items() if facts})
            )
    return found


def changed_facts(before: State, after: State) -> set[tuple[str, str, str]]:
    """View, subject and fact of everything that is said otherwise than before, or only now."""
    found = set()
    for view, facts in after.views.items():
        earlier = before.views.get(view) or {}
        for subject, said in (facts or {}).items():
            found |= {
                (view, subject, fact)
                for fact, value in said.items()
                if earlier.get(subject, {}).get(fact) != value
                and (says_something(value) or fact in earlier.get(subject, {}))
            }
    return found


def published(before: State, after: State) -> list[tuple[str, Event]]:
    """The events that came into a channel between two states, with the channel's name."""
    return [
        (name, event)
        for name, events in after.channels.items()
        for event in events[len(before.channels.get(name, ())) :]
    ]


def _initial(memory: Memory) -> dict[str, Value]:
    return {cell.variable: cell.initial for cell in _cells(memory)}


def _cells(memory: Memory) -> Iterable[Cell]:
    for view in memory.views:
        yield from view.cells
    for channel in memory.channels:
        yield channel.length
        for entry in channel.entries:
            yield from entry
        for reader in channel.readers:
            yield from (cell for cell in (reader.position, reader.busy) if cell is not None)


def _state(memory: Memory, values: Mapping[str, Value]) -> State:
    return State(
        {view.name: _said(view, values) for view in memory.views},
        {channel.name: tuple(_events(channel, values)) for channel in memory.channels},
    )


def _said(view: View, values: Mapping[str, Value]) -> Facts | None:
    found: dict[str, dict[str, Value]] = {}
    for cell in view.cells:
        found.setdefault(cell.subject, {})[cell.fact] = values[cell.variable]
    if view.fleeting and not any(says_something(v) for facts in found.values() for v in facts.values()):
        return None
    if view.key:
        silent = (None, False, view.nothing)
        found = {s: f for s, f in found.items() if f.get(view.key, True) not in silent}
    return found


def _events(channel: ShownChannel, values: Mapping[str, Value]) -> Iterable[Event]:
    for position in range(_number(values[channel.length.variable])):
        facts = {cell.fact: values[cell.variable] for cell in channel.entries[position]}
        subject = channel.about.format(facts.pop(channel.subject))
        yield Event(subject, facts, _waiting(channel, position, facts, values))


def _waiting(
    channel: ShownChannel, position: int, facts: dict[str, Value], values: Mapping[str, Value]
) -> tuple[str, ...]:
    found = []
    for reader in channel.readers:
        passes = facts.get(reader.filter, True) if reader.filter else True
        at = 0 if reader.position is None else _number(values[reader.position.variable])
        if reader.busy is not None and values[reader.busy.variable]:
            at += 1
        if passes and position >= at:
            found.append(reader.name)
    return tuple(found)


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value
