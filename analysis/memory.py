"""What the components of a model know, as reports show it: the views and channels that the components declare."""

from __future__ import annotations

from ..checker.trace.trace import plain_value
from ..model.language import State, TransitionSystem
from ..reports.evidence import Cell, Channel, Fact, Memory, Reader, View
from ..reports.step import Value


def memory_of(system: TransitionSystem, state: State) -> Memory:
    """What the components of a system know, beginning in `state`; variables that the system lacks are left out."""
    values = {name: plain_value(value) for name, value in system.describe(state).items()}
    narration = system.narration
    views = []
    for view in narration.views:
        cells = tuple(Cell(v, subject, fact, values[v]) for v, subject, fact in view.cells if v in values)
        if cells:
            views.append(View(view.view, cells, view.key, view.nothing, view.fleeting))
    return Memory(
        tuple(views),
        tuple(
            Channel(
                channel.channel,
                _cell(values, channel.length, "length"),
                tuple(tuple(_cell(values, v, fact) for v, fact in e if v in values) for e in channel.entries),
                channel.subject,
                channel.about,
                tuple(
                    Reader(
                        reader.name,
                        _cell(values, reader.position, "position") if reader.position in values else None,
                        reader.only,
                        _cell(values, reader.busy, "busy") if reader.busy in values else None,
                    )
                    for reader in channel.readers
                ),
            )
            for channel in narration.channels
            if channel.length in values
        ),
        tuple(name for name, fact in narration.facts.items() if fact.compared),
        {name: Fact(fact.says, fact.denies, dict(fact.values)) for name, fact in narration.facts.items()},
    )


def _cell(values: dict[str, Value], variable: str, fact: str) -> Cell:
    return Cell(variable, "", fact, values[variable])
