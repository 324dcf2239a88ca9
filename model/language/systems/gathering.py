"""What the parts of a model declare of their words, gathered into its narration."""

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import Any

from ..declarations.component import Component, Model
from ..declarations.narration import Channel, Fact, Knowledge, Reader, Sentence, Words
from ..declarations.shapes import FifoCell, RecordCell, ScalarCell, Shape, TableCell
from ..expressions.errors import ModelError
from ..expressions.expr import Variable
from ..expressions.sorts import Entity, Sort
from .telling import Address, ChannelCells, FactWords, Narration, ViewCells, spoken_words

Located = tuple[Variable, str, tuple[Any, ...]]
"""A variable with its state (part and fields, without keys) and its keys."""


def narrate(model: Model) -> Narration:
    """The words that the parts of a model declare. Raises ModelError if they speak of state that there is not."""
    return _Gathering(model).narration()


def located(cell: Any, state: str, keys: tuple[Any, ...] = ()) -> Iterator[Located]:
    """The variables of a cell that stands for `state`, in order."""
    if isinstance(cell, ScalarCell):
        yield cell.variable, state, keys
    elif isinstance(cell, TableCell):
        for key, inner in zip(cell.keys, cell.cells, strict=True):
            yield from located(inner, state, (*keys, key))
    elif isinstance(cell, RecordCell):
        for name, inner in cell.fields.items():
            yield from located(inner, f"{state}.{name}", keys)
    else:
        assert isinstance(cell, FifoCell)
        yield cell.length.variable, f"{state}.length", keys
        for i, slot in enumerate(cell.slots):
            yield from located(slot, state, (*keys, i))


def sentences_of(part: Component) -> dict[str, tuple[Sentence, ...]]:
    """The sentences of the steps of a part: those of the foremost overriding that declares some."""
    found: dict[str, tuple[Sentence, ...]] = {}
    for base in reversed(type(part).__mro__):
        for name, thing in vars(base).items():
            said = getattr(thing, "__podrace_tells__", None)
            if said is not None:
                found[name] = said
    return found


def words_of(part: Component) -> dict[str, Words | None]:
    """The words for each field of a part and for each path below one; None where nobody answers for a field.

    A class that declares `phrases` answers for all the state that it declares: what it has no words for is bookkeeping.
    """
    found: dict[str, Words | None] = {}
    for base in reversed(type(part).__mro__):
        own = vars(base)
        answered = part.bookkeeping or "phrases" in own
        found.update({n: Words() if answered else None for n, s in own.items() if isinstance(s, Shape)})
        found.update(own.get("phrases", {}))
    return found


def _declared(part: Component, name: str) -> list[Any]:
    """The entries that the classes of a part declare under a name, those of bases first."""
    return [entry for base in reversed(type(part).__mro__) for entry in vars(base).get(name, ())]


class _Gathering:
    """A model's variables by their state, and what is gathered of their words."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parts = tuple(model.parts.values())
        self.fields = {
            f"{part.name}.{name}": tuple(located(cell, f"{part.name}.{name}"))
            for part in self.parts
            for name, cell in part._cells.items()
        }
        self.states = {
            state.rsplit(".", i)[0]
            for field in self.fields.values()
            for _, state, _ in field
            for i in range(state.count(".") + 1)
        }
        self.facts: dict[str, FactWords] = {}

    def narration(self) -> Narration:
        views, channels = self._views(), self._channels()
        return Narration(self._sentences(), self._addresses(), self.facts, tuple(views), tuple(channels))

    def _state(self, part: Component, path: str) -> str:
        return self._known(f"{part.name}.{path}", part.name)

    def _known(self, state: str, who: str) -> str:
        part, _, path = state.partition(".")
        # A table per a kind of which there are no entities has no cells to look at.
        empty = self.fields.get(f"{part}.{path.partition('.')[0]}") == ()
        if state not in self.states and not empty:
            raise ModelError(f"the words of `{who}` speak of `{state}`, which is no state of the model")
        return state

    def _sentences(self) -> dict[str, tuple[Sentence, ...]]:
        made = {f"{p.name}.{name}": said for p in self.parts for name, said in sentences_of(p).items()}
        for step, said in made.items():
            for sentence in said:
                if sentence.when is not None:
                    self._known(sentence.when.state, step)
        return made

    def _addresses(self) -> dict[str, Address]:
        made = {}
        for part in self.parts:
            words = {self._state(part, path): said for path, said in words_of(part).items()}
            for name in part._cells:
                field = f"{part.name}.{name}"
                below = None if words[field] is None else Words()
                for variable, state, keys in self.fields[field]:
                    made[variable.name] = Address(state, keys, words.get(state, below))
        return made

    def _views(self) -> list[ViewCells]:
        views: dict[str, ViewCells] = {}
        for part in self.parts:
            for known in _declared(part, "knowledge"):
                made, earlier = self._view(part, known), views.get(known.view)
                views[known.view] = (
                    made if earlier is None else replace(earlier, cells=(*earlier.cells, *made.cells))
                )
        order = {name: i for i, name in enumerate(self.model.view_order)}
        return sorted(views.values(), key=lambda view: order.get(view.view, len(order)))

    def _view(self, part: Component, known: Knowledge) -> ViewCells:
        said = {self._state(part, path): fact for path, fact in known.facts.items()}
        cells, key, nothing = [], "", ""
        for name in part._cells:
            for variable, state, keys in self.fields[f"{part.name}.{name}"]:
                if state in said:
                    fact = self._fact(said[state], variable.sort)
                    subject = keys[0].about.format(keys[0].name) if keys else known.subject
                    cells.append((variable.name, subject, fact))
                    if state == f"{part.name}.{known.key}":
                        key, nothing = fact, _first(variable.sort)
        return ViewCells(known.view, tuple(cells), key, nothing, known.fleeting)

    def _fact(self, declared: Fact | str, sort: Sort) -> str:
        fact = declared if isinstance(declared, Fact) else Fact(declared, f"{declared} {{value}}")
        values: dict[str, str] = {}
        if sort.tag is not None and issubclass(sort.tag, Enum):
            values = {**spoken_words(sort.tag), _first(sort): ""}
        words = FactWords(fact.says, fact.denies, fact.compared, values)
        earlier = self.facts.setdefault(fact.name, words)
        if replace(words, values=earlier.values) != earlier:
            raise ModelError(f"two facts are called `{fact.name}`: `{earlier.says}` and `{words.says}`")
        self.facts[fact.name] = replace(words, values={**earlier.values, **values})
        return fact.name

    def _channels(self) -> list[ChannelCells]:
        readers: dict[str, list[Reader]] = {}
        for part in self.parts:
            for channel, reader in _declared(part, "reads"):
                readers.setdefault(channel, []).append(reader)
        return [
            self._channel(part, channel, readers.get(channel.name, []))
            for part in self.parts
            for channel in _declared(part, "channels")
        ]

    def _channel(self, part: Component, channel: Channel, readers: list[Reader]) -> ChannelCells:
        log, subject = self._state(part, channel.log), self._state(part, f"{channel.log}.{channel.subject}")
        entries: dict[int, list[tuple[str, str]]] = {}
        about = "{}"
        for variable, state, keys in self.fields[log]:
            if not keys:
                continue
            entries.setdefault(keys[0], []).append((variable.name, state.rpartition(".")[2]))
            if state == subject and variable.sort.tag is not None and issubclass(variable.sort.tag, Entity):
                about = variable.sort.tag.about
        return ChannelCells(
            channel.name,
            f"{log}.length",
            tuple(tuple(sorted(entry)) for entry in entries.values()),
            channel.subject,
            about,
            (*channel.readers, *readers),
        )


def _first(sort: Sort) -> str:
    """The name of the enum member that says nothing; empty for other sorts."""
    return next(iter(sort.tag)).name if sort.tag is not None and issubclass(sort.tag, Enum) else ""
