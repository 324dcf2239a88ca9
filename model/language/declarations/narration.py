"""The words of reports about a model: a component declares them next to its steps and its state.

    @step(actor="scheduler")
    @tells(
        changes("scheduler.verdict", after=Status.FEASIBLE),
        "{pod} fits on {node}.",
        "The filters are run for {pod} on {node}.",
    )
    def filter(self, pod: Pod, node: Node) -> None: ...

No engine reads these words, and no verdict, count, slice or fingerprint depends on them. Without words, reports use the names of
steps and variables.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Any, TypeVar

from ....base.structs import Data

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=type[Enum])


class Content(Enum):
    """What a condition may say about a value instead of naming it.

    A value says nothing if it is false, none, or the first member of its enum.
    """

    ANYTHING = 0
    SOMETHING = 1
    NOTHING = 2


ANYTHING, SOMETHING, NOTHING = Content


class Changes(Data):
    """A condition on a step: it changed a cell of `state`, or of what is below it, from `before` to `after`.

    `state` is a part and the names of fields, without keys: `queue.sub_queue`, `api.pod.node`.
    """

    state: str
    before: Any = ANYTHING
    after: Any = ANYTHING


def changes(state: str, before: Any = ANYTHING, after: Any = ANYTHING) -> Changes:
    """The condition that a step changed a cell of `state`; values are Python values, or ANYTHING, SOMETHING, NOTHING."""
    return Changes(state, before, after)


class Finds(Data):
    """A condition on a step: before it, the cell of `state` for its argument `of` had this value. It says why a step had no effect."""

    state: str
    of: str
    value: Any


def finds(state: str, of: str, value: Any) -> Finds:
    """The condition that a step met this value: a Python value, or SOMETHING, NOTHING; `of` names the argument whose cell it is."""
    return Finds(state, of, value)


class Sentence(Data):
    """One sentence for a step that changed, or found, what `when` says.

    Names in braces are the step's arguments; `{why}` stands for a colon and the reasons that `Component.explains` gives. With a condition on a change there are `{before}` and `{after}`, the values of the
    changed cell, and `{0}`, `{1}`, its keys.
    """

    text: str
    when: Changes | Finds | None = None


Said = Changes | Finds | str | Sentence
"""A sentence, or the condition of the sentence that follows."""


def tells(*said: Said) -> Callable[[F], F]:
    """How reports describe a step: by the first sentence whose condition, given before the sentence, the step meets. A sentence without a condition always applies.

    An overriding method has the sentences of the method that it overrides, unless it declares its own.
    """

    def mark(function: F) -> F:
        function.__podrace_tells__ = tuple(_sentences(said))  # type: ignore[attr-defined]
        return function

    return mark


def _sentences(said: Sequence[Said]) -> Iterator[Sentence]:
    when: Changes | Finds | None = None
    for one in said:
        if isinstance(one, Changes | Finds):
            _refuse_idle(when)
            when = one
        else:
            yield Sentence(one, when) if isinstance(one, str) else one
            when = None
    _refuse_idle(when)


def _refuse_idle(when: Changes | Finds | None) -> None:
    if when is not None:
        raise TypeError(f"no sentence stands behind the condition on {when.state}")


class Words(Data):
    """How reports describe a change of a piece of state: by `set` if its new value says something, else by `cleared`.

    An empty text hides the change. `{0}`, `{1}` are the keys of the cell, `{before}` and `{after}` the values, any other
    name is an argument of the step. A `decisive` change stands out.
    """

    set: str = ""
    cleared: str = ""
    decisive: bool = False


def words(said: Mapping[str, Words]) -> dict[str, Words]:
    """The words for the state of a component: see Component.phrases."""
    return dict(said)


UNTOLD = words({})
"""The words of state that is bookkeeping: none."""


def spoken(**words: str) -> Callable[[E], E]:
    """Words for the members of an Enum class, by their names; a member without words is told by its name."""

    def mark(members: E) -> E:
        unknown = words.keys() - members.__members__.keys()
        if unknown:
            raise TypeError(f"{members.__name__} has no member {', '.join(sorted(unknown))}")
        members.__podrace_words__ = words  # type: ignore[attr-defined]
        return members

    return mark


class Fact(Data):
    """One fact about a pod or a node: the words if it is true, with `{value}`, and the words if it is not.

    All components that know a `compared` fact should agree on it in the end.
    """

    name: str
    says: str
    denies: str = ""
    compared: bool = False


class Knowledge(Data):
    """What a component knows: the facts that pieces of its state say, by the fields' names.

    A name stands for a fact without special words. What is not per entity is about `subject`. Where the field `key` says
    nothing, the component does not know of the entity at all. `fleeting` knowledge is there only while it says something.
    """

    view: str
    facts: Mapping[str, Fact | str] = field(default_factory=dict)
    subject: str = ""
    key: str = ""
    fleeting: bool = False


class Reader(Data):
    """A reader of a channel: it receives the events from `position` on (without one, all) that have the field `only`.

    While `busy`, the first of them has reached it already. Both are names of variables.
    """

    name: str
    position: str = ""
    only: str = ""
    busy: str = ""


class Channel(Data):
    """Events that wait for their readers in the queue `log` of the component. The field `subject` says what an event is about.

    What else an event says are the facts of its fields' names.
    """

    name: str
    log: str
    subject: str
    readers: tuple[Reader, ...] = ()
