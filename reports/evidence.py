"""What a counterexample is shown with, beside its steps: the cluster, what each component knows, causes, and what is near.

All of it is computed from the model by the caller. Nothing here names a component: views, their facts and the
channels between them are data.
"""

import msgspec

from .step import ShownStep, Value, says_something, show


class NodeShape(msgspec.Struct, frozen=True):
    """A node: how much it has of each resource that is asked for, and how many pods it admits. `written` are the amounts as
    the scenario writes them, where it does. `says` is what else its object says, each in words after "it".
    """

    name: str
    capacity: dict[str, int]
    pods: int | None = None
    written: dict[str, str] = {}
    says: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class PodShape(msgspec.Struct, frozen=True):
    """A pod: how much it asks for of each resource, also as it is `written`, and its priority. `says` is what else its object says, each in words after "it"."""

    name: str
    requests: dict[str, int]
    priority: int
    written: dict[str, str] = {}
    says: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Picture(msgspec.Struct, frozen=True):
    """The cluster as somebody sees it: the views that say where pods are, and where they are nominated to."""

    title: str
    placed: str
    nominated: str


class ShownCluster(msgspec.Struct, frozen=True):
    """Nodes and pods, and through whose eyes they are to be drawn. `others` are the budgets, pod groups, devices and volumes, and who acts beside the scheduler, a sentence each.

    Amounts are counted in `units`: a number and a suffix of Kubernetes for each resource, such as (200, "m").
    """

    nodes: tuple[NodeShape, ...]
    pods: tuple[PodShape, ...]
    pictures: tuple[Picture, ...] = ()
    units: dict[str, tuple[int, str]] = {}
    others: tuple[str, ...] = ()


class Cell(msgspec.Struct, frozen=True):
    """One thing that a view says of a subject: the variable that says it, and its value before the first step."""

    variable: str
    subject: str
    fact: str
    initial: Value


class View(msgspec.Struct, frozen=True):
    """What one component knows.

    Where the fact `key` of a subject says nothing, or `nothing`, the view does not speak of that subject. A `fleeting`
    view is there only while one of its cells says something.
    """

    name: str
    cells: tuple[Cell, ...]
    key: str = ""
    nothing: str = ""
    fleeting: bool = False


class ShownReader(msgspec.Struct, frozen=True):
    """Somebody whom events have still to reach: those from `position` on (all without one) that have the fact `filter`.

    While `busy`, the first of them has reached it already.
    """

    name: str
    position: Cell | None = None
    filter: str = ""
    busy: Cell | None = None


class ShownChannel(msgspec.Struct, frozen=True):
    """Events on their way, oldest first: `length` of the entries are there.

    The fact `subject` says what an event is about, and `about` how views call that: it stands for the {}.
    """

    name: str
    length: Cell
    entries: tuple[tuple[Cell, ...], ...]
    subject: str
    about: str
    readers: tuple[ShownReader, ...]


class ShownFact(msgspec.Struct, frozen=True):
    """How a fact is spoken of: what is said if it is so, with `{value}`, and if it is not.

    `values` has words for values, by their names; empty for a value that says nothing.
    """

    says: str
    denies: str = ""
    values: dict[str, str] = {}

    def words(self, value: Value) -> str:
        """What is said of a subject of which this is `value`; nothing if that is not worth a word."""
        name = self.values.get(show(value), show(value))
        return self.says.format(value=name) if says_something(value) and name else self.denies


class Memory(msgspec.Struct, frozen=True):
    """Every view of a counterexample, the channels between them, and the facts on which views ought to agree.

    `facts` has the words for facts.
    """

    views: tuple[View, ...] = ()
    channels: tuple[ShownChannel, ...] = ()
    compared: tuple[str, ...] = ()
    facts: dict[str, ShownFact] = {}

    def words(self, fact: str, value: Value) -> str:
        """What a view says of a subject; nothing if that is not worth a word."""
        known = self.facts.get(fact)
        return (known or ShownFact(f"{fact.replace('_', ' ')} {{value}}")).words(value)


class Cause(msgspec.Struct, frozen=True):
    """Step `number` went as it did because of what step `after` had changed, in these variables."""

    number: int
    after: int
    variables: tuple[str, ...]


class ShownCounterfactual(msgspec.Struct, frozen=True):
    """Steps of one actor that could have been taken before step `before`; step `stops` would not have been possible then."""

    before: int
    steps: tuple[ShownStep, ...]
    stops: int
