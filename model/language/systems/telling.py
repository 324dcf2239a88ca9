"""The words of a whole model, under the names of its steps and variables; and how a step is told with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property
from string import Formatter
from typing import Any, Protocol

from ....base.structs import Data
from ..declarations.narration import ANYTHING, NOTHING, SOMETHING, Changes, Finds, Reader, Sentence, Words
from ..expressions.sorts import Entity


class SpokenChange(Protocol):
    """A variable that a step changed, with Python values."""

    @property
    def variable(self) -> str:
        """Its name."""

    @property
    def before(self) -> Any:
        """What it was."""

    @property
    def after(self) -> Any:
        """What it is."""


class Address(Data):
    """Where a variable stands in the declared state: part and fields, without keys; and the keys.

    `words` are None where nobody has declared any.
    """

    state: str
    keys: tuple[Any, ...]
    words: Words | None


class FactWords(Data):
    """How a fact is spoken of (see Fact); `values` are words for values by their names, empty for those that say nothing."""

    says: str
    denies: str
    compared: bool
    values: Mapping[str, str]


class ViewCells(Data):
    """The knowledge of a component: which variable says which fact of which subject. See Knowledge.

    Where the fact `key` is `nothing`, the view does not speak of the subject.
    """

    view: str
    cells: tuple[tuple[str, str, str], ...]
    key: str = ""
    nothing: str = ""
    fleeting: bool = False


class ChannelCells(Data):
    """The variables of a channel: its length, and of each entry which variable says which fact.

    The fact `subject` says what an event is about; with that for the {}, `about` is how views call it.
    """

    channel: str
    length: str
    entries: tuple[tuple[tuple[str, str], ...], ...]
    subject: str
    about: str
    readers: tuple[Reader, ...]


class Narration(Data, slots=False):
    """How the steps and changes of a model are told. Without entries, by names and values alone."""

    sentences: Mapping[str, tuple[Sentence, ...]] = field(default_factory=dict)
    addresses: Mapping[str, Address] = field(default_factory=dict)
    facts: Mapping[str, FactWords] = field(default_factory=dict)
    views: tuple[ViewCells, ...] = ()
    channels: tuple[ChannelCells, ...] = ()

    def sentence(
        self,
        step: str,
        args: Iterable[tuple[str, Any]],
        done: Sequence[SpokenChange],
        found: Mapping[str, Any] | None = None,
        reasons: Sequence[str] = (),
    ) -> str | None:
        """The step `part.name` in one sentence; None if nothing was declared that fits.

        `found` are the values of the variables before the step; without them, no condition on what it found is met. `reasons`
        stand, after a colon, for `{why}`.
        """
        given = dict(args)
        names = Arguments((name, named(value)) for name, value in given.items())
        names["why"] = f": {', '.join(reasons)}" if reasons else ""
        for sentence in self.sentences.get(step, ()):
            if isinstance(sentence.when, Finds):
                if self._found(sentence.when, given, found or {}):
                    return Formatter().vformat(sentence.text, (), names)
                continue
            if sentence.when is None:
                return Formatter().vformat(sentence.text, (), names)
            change = next((c for c in done if self._meets(c, sentence.when)), None)
            if change is not None:
                return self._filled(sentence.text, change, names)
        return None

    def phrase(self, change: SpokenChange, args: Iterable[tuple[str, Any]]) -> tuple[str, bool] | None:
        """A change in words, and whether it stands out. Empty if it is bookkeeping, None if nothing was declared."""
        address = self.addresses.get(change.variable)
        if address is None or address.words is None:
            return None
        text = address.words.set if says_something(change.after) else address.words.cleared
        names = Arguments((name, named(value)) for name, value in args)
        return self._filled(text, change, names), address.words.decisive

    def _filled(self, text: str, change: SpokenChange, names: Mapping[str, str]) -> str:
        address = self.addresses[change.variable]
        both = {"before": named(change.before), "after": named(change.after)}
        return Formatter().vformat(text, [named(key) for key in address.keys], Arguments({**names, **both}))

    @cached_property
    def _cells(self) -> Mapping[tuple[str, tuple[Any, ...]], str]:
        return {(address.state, address.keys): name for name, address in self.addresses.items()}

    def _found(self, wanted: Finds, given: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
        variable = self._cells.get((wanted.state, (given.get(wanted.of),)))
        return variable is not None and variable in found and agrees(found[variable], wanted.value)

    def _meets(self, change: SpokenChange, wanted: Changes) -> bool:
        address = self.addresses.get(change.variable)
        if address is None or not f"{address.state}.".startswith(f"{wanted.state}."):
            return False
        return agrees(change.before, wanted.before) and agrees(change.after, wanted.after)


class Arguments(dict[str, str]):
    """The arguments of a step; one that the step does not have is `the pod`, `the node`."""

    def __missing__(self, name: str) -> str:
        return f"the {name}"


def says_something(value: Any) -> bool:
    """Whether a value is more than an absence: than false, none, or the first member of its enum."""
    first = isinstance(value, Enum) and value is next(iter(type(value)))
    return not (value is None or value is False or first)


def agrees(value: Any, wanted: Any) -> bool:
    if wanted is SOMETHING or wanted is NOTHING:
        return says_something(value) is (wanted is SOMETHING)
    return wanted is ANYTHING or (type(value) is type(wanted) and value == wanted)


def named(value: Any) -> str:
    if isinstance(value, Enum):
        return spoken_words(type(value)).get(value.name, value.name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else value.name if isinstance(value, Entity) else str(value)


def spoken_words(members: type[Enum]) -> Mapping[str, str]:
    """The words that an Enum class declares for its members, by their names."""
    words: Mapping[str, str] = getattr(members, "__podrace_words__", {})
    return words


NAMES_ALONE = Narration()
"""Nothing is declared."""
