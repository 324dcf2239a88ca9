"""Systems of one's own: a class with its entities, steps and what must hold, and nothing around it."""

from __future__ import annotations

import itertools
import logging
import random
from collections import deque
from enum import Enum
from functools import cache, cached_property, wraps
from typing import Annotated, Any, ClassVar, Literal

import pytest

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.search import check
from podrace.model.language import (
    Case,
    Component,
    Entity,
    Model,
    ModelError,
    System,
    Value,
    all_of,
    boolean,
    build,
    clamp,
    constraint,
    count,
    enum,
    fifo,
    integer,
    invariant,
    liveness,
    negate,
    one_of,
    per,
    ref,
    require,
    resettable,
    step,
    system_of,
    trace_system,
    witness,
    words_of,
)  # fmt: skip


class Level(Enum):
    LOW = 0
    MIDDLE = 1
    HIGH = 2


class Lamp(Entity):
    members = ("red", "green")


class Tower(System):
    """Lamps whose levels go up, one at a time, or jump."""

    level = per(Lamp, enum(Level))
    last = ref(Lamp)
    jumps = integer(0, 4)

    @step(actor="switch", each="lamp")
    def raise_(self, lamp: Lamp) -> None:
        """Up by one."""
        require(self.level[lamp] < Level.HIGH)
        require(negate(one_of(self.level[lamp], Level.HIGH)))
        self.level[lamp] = Level.HIGH
        self.last = lamp

    @step(actor="switch")
    def jump(self, by: Annotated[int, range(1, 3)], twice: Literal[0, 1]) -> None:
        require(self.jumps + by + twice <= 4)
        self.jumps = self.jumps + by + twice

    @invariant
    def in_order(self, lamp: Lamp, other: Lamp) -> Value:
        """No lamp is between."""
        return (self.level[lamp] != Level.MIDDLE) & (self.level[other] <= Level.HIGH)

    @witness
    def some_high(self, lamp: Lamp) -> Value:
        return self.level[lamp] >= Level.HIGH

    @resettable
    def can_be_low(self, lamp: Lamp) -> Value:
        return self.level[lamp] == Level.LOW

    @liveness
    def dark_for_ever(self) -> Value:
        """All are low for ever."""
        return all_of(self.level[lamp] == Level.LOW for lamp in self.universe[Lamp])

    @liveness
    def jumps_little(self) -> tuple[Case, ...]:
        return (Case("one", self.jumps == 1), Case("two", self.jumps == 2, (self.last.is_none,)))


def test_all_that_a_class_says() -> None:
    system = system_of(Tower)
    assert system.name == "Tower"
    assert [v.name for v in system.variables] == [
        "tower.level[red]",
        "tower.level[green]",
        "tower.last",
        "tower.jumps",
    ]
    assert [t.label for t in system.transitions] == [
        "tower.raise_(lamp=red)", "tower.raise_(lamp=green)", "tower.jump(by=1, twice=0)", "tower.jump(by=1, twice=1)",
        "tower.jump(by=2, twice=0)", "tower.jump(by=2, twice=1)",
    ]  # fmt: skip
    assert list(system.invariants) == ["in_order"]
    assert list(system.witnesses) == ["some_high"]
    assert list(system.resettabilities) == ["can_be_low(lamp=red)", "can_be_low(lamp=green)"]
    assert {name: [c.name for c in cases] for name, cases in system.livenesses.items()} == {
        "dark_for_ever": ["All are low for ever"],
        "jumps_little": ["one", "two"],
    }
    assert words_of(Tower) == {
        "in_order": "No lamp is between.", "some_high": "", "can_be_low": "", "dark_for_ever": "All are low for ever.", "jumps_little": "",
    }  # fmt: skip


def test_its_verdicts() -> None:
    found = {r.property_id: (r.verdict.name, r.counts.states) for r in check(system_of(Tower))}
    assert found == {
        "in_order": ("HOLDS", 4),
        "can_be_low(lamp=red)": ("VIOLATED", 4),
        "can_be_low(lamp=green)": ("VIOLATED", 4),
        "dark_for_ever": ("HOLDS", 4),
        "jumps_little": ("HOLDS", 25),
    }


def test_it_is_the_system_that_the_longer_way_gives() -> None:
    class Long(Model):
        tower: Tower

    short = system_of(Tower)
    system = trace_system(build(Long, short.universe), "Tower")
    assert [str(v) for v in system.variables] == [str(v) for v in short.variables]
    assert [(t.label, repr(t.guard), repr(t.updates)) for t in system.transitions] == [
        (t.label, repr(t.guard), repr(t.updates)) for t in short.transitions
    ]


def test_sizes_and_names() -> None:
    system = system_of(Tower, {"Lamp": 3})
    assert [lamp.name for lamp in system.universe[Lamp]] == ["lamp1", "lamp2", "lamp3"]


class Half(Component):
    on = per(Lamp, boolean())

    @invariant
    def one_on(self) -> Value:
        return count(self.on[lamp] for lamp in self.universe[Lamp]) <= 1


class Other(Component):
    half: Half

    @step(actor="b")
    def light(self, lamp: Lamp) -> None:
        require(negate(self.half.on[lamp]))
        self.half.on[lamp] = True


class Both(Model):
    half: Half
    other: Other


def test_a_model_of_several_parts() -> None:
    (result,) = check(system_of(Both))
    assert (result.property_id, result.verdict.name, str(result.trace)) == (
        "one_on", "VIOLATED", "1. other.light(lamp=red)\n2. other.light(lamp=green)",
    )  # fmt: skip


class Nameless(Entity):
    pass


class NoSize(System):
    on = per(Nameless, boolean())


class Again(Component):
    half: Half

    @invariant
    def one_on(self) -> Value:
        return True


class Double(Model):
    half: Half
    again: Again


class BadParameter(System):
    on = boolean()

    @invariant
    def always(self, what: str) -> Value:
        return True


@pytest.mark.parametrize(
    ("root", "sizes", "message"),
    [
        (NoSize, {}, "how many Nameless are there"),
        (Tower, {"Lamp": 65}, "how many Lamp are there"),
        (Tower, {"Lmp": 2}, "Tower has no kind of entity `Lmp`; its kinds: Lamp"),
        (
            BadParameter,
            {},
            "parameter `what` of `always` needs a kind of entity, an Enum class, bool or numbers",
        ),
    ],
)
def test_mistakes_name_the_line(root: Any, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        system_of(root, sizes)
    assert caught.value.location[0] == __file__


def test_parts_that_say_the_same_say_it_with_their_names() -> None:
    assert [r.property_id for r in check(system_of(Double))] == ["half.one_on", "again.one_on"]
    assert words_of(Double).keys() == {"half.one_on", "again.one_on"}


def made(name: str, base: type[Any] = System, **what: Any) -> Any:
    """A class with these things in its body."""
    return type(name, (base,), {"__module__": __name__, **what})


def condition(self: Any) -> Value:
    return True


def with_more(**what: Any) -> Any:
    class Counter(System):
        n = integer(0, 3)
        on = boolean()
        waits = fifo(2, integer(0, 3))
        log = per(range(2), integer(0, 3))

        @step(actor="x")
        def go(self) -> None:
            require(self.n < 3)
            self.n = self.n + 1

    return made("Counting", Counter, **what)


def test_what_stands_in_a_model_is_not_lost() -> None:
    @step(actor="x")
    def jump(self: Any) -> None:
        self.half = 1

    def setup(self: Any) -> None:
        """Nothing."""

    for what in ({"jump": jump}, {"low": invariant(condition)}, {"x": boolean()}, {"setup": setup}):
        root = made("Named", Double, **what)
        with pytest.raises(
            ModelError, match=f"`{next(iter(what))}` stands in the Model Named, which only names parts"
        ):
            system_of(root)


def test_one_declaration_twice_is_two_pieces_of_state() -> None:
    number = integer(0, 3)

    class First(System):
        x = y = number
        table = other = per(range(2), number)

        @step(actor="x")
        def go(self) -> None:
            self.x = 2
            self.table[0] = 3

        @invariant
        def same(self) -> Value:
            return self.x == self.y

    class Second(System):
        z = number

        @invariant
        def low(self) -> Value:
            return self.z < 3

    first = system_of(First)
    assert [v.name for v in first.variables] == [
        "first.x", "first.y", "first.table[0]", "first.table[1]", "first.other[0]", "first.other[1]",
    ]  # fmt: skip
    assert [r.verdict.name for r in check(first)] == ["VIOLATED"]
    assert [v.name for v in system_of(Second).variables] == ["second.z"]


@pytest.mark.parametrize("mark", [invariant, witness, resettable, liveness])
def test_properties_only_look(mark: Any) -> None:
    def assigns(self: Any) -> Value:
        self.n = 0
        return self.n < 3

    def pushes(self: Any) -> Value:
        self.waits.push(1)
        return True

    def pops(self: Any) -> Value:
        return self.waits.pop() < 3

    def requires(self: Any) -> Value:
        require(self.n > 2)
        return self.n == 3

    for look, message in (
        (assigns, "a property only looks: it cannot change `counting.n`"),
        (pushes, "`constraint` is for steps: a property looks at all states"),
        (pops, r"a property only looks: it cannot change `counting.waits\[0\]`"),
        (
            requires,
            r"`require` is for steps: a property returns a condition, such as `implies\(this, that\)`",
        ),
    ):
        with pytest.raises(ModelError, match=message):
            system_of(with_more(**{look.__name__: mark(look)}))


def test_setup_only_says_where_it_starts() -> None:
    def setup(self: Any) -> None:
        require(self.n < 3)

    def bounded(self: Any) -> None:
        constraint("low", self.n < 3)

    def of_all(self: Any, who: Any) -> None:
        """Nothing."""

    for function, message in (
        (setup, "`require` is for steps: `setup` says what the initial state is"),
        (bounded, "`constraint` is for steps: `setup` says what the initial state is"),
        (of_all, "`setup` has one parameter, `self`"),
    ):
        with pytest.raises(ModelError, match=message):
            system_of(with_more(setup=function))


_counted = 0
_logger = logging.getLogger("never asked before")


class Memo:
    """A plain object."""


class Seat(Entity):
    members = 2
    waits: ClassVar[Any] = deque()
    memo: ClassVar[Any] = Memo()
    nothing = float("nan")
    lit: ClassVar[dict[str, bool]] = {}

    @cached_property
    def shown(self) -> str:
        return self.name.upper()


def one_more(kind: type[Entity], change: Any) -> Any:
    """A step that does something to an entity."""

    def changes(self: Any, seat: Any) -> None:
        change(seat)

    changes.__annotations__["seat"] = kind
    return step(actor="y")(changes)


class _Slot:
    __slots__ = ("n",)
    n: int


def test_a_step_that_is_another_when_it_is_read_again_is_refused() -> None:
    """Counters that nothing else sees change: iterators, slots, what another process or chance gives."""
    numbers, slot = itertools.count(), _Slot()
    slot.n = 0

    def in_a_slot() -> int:
        slot.n += 1
        return int(slot.n)

    for gives in (lambda: next(numbers), in_a_slot):

        @step(actor="x")
        def counts(self: Any) -> None:
            self.n = self.gives() % 2

        with pytest.raises(
            ModelError, match=r"^[^`]*step `counts` is another when it is read again: it must not"
        ):
            system_of(with_more(gives=staticmethod(gives), counts=counts))

    @invariant
    def even(self: Any) -> Any:
        return self.n == next(numbers) % 2

    with pytest.raises(ModelError, match="`even` is another when it is read again"):
        system_of(with_more(even=even))


def test_chance_is_refused() -> None:
    @step(actor="x")
    def draws(self: Any) -> None:
        self.n = random.randrange(1)

    with pytest.raises(
        ModelError, match="a step or a property asks `random`, once, when it is read: write a parameter"
    ):
        system_of(with_more(draws=draws))


def test_what_steps_keep_in_functions_is_refused() -> None:
    """A memo in a closure or in a default gives the same symbol each time, of another moment."""
    memo: dict[str, Any] = {}

    def in_a_closure(self: Any) -> Any:
        return memo.setdefault("n", self.n)

    def in_a_default(self: Any, known: dict[str, Any] = {}) -> Any:  # noqa: B006
        return known.setdefault("n", self.n)

    @step(actor="x")
    def takes(self: Any) -> None:
        self.n = 0
        self.n = self.known()

    for known in (in_a_closure, in_a_default):
        with pytest.raises(ModelError, match="`known` of Counting was changed while steps were read"):
            system_of(with_more(known=known, takes=takes))


def test_what_steps_keep_elsewhere_is_refused() -> None:
    memo: dict[str, Any] = {"x": [0]}

    @step(actor="x")
    def remembers(self: Any) -> None:
        self.memo["x"][0] += 1

    @step(actor="x")
    def looks(self: Any) -> None:
        self.n = self.memo["x"][0]

    assert system_of(with_more(memo=memo, looks=looks))  # a table of constants is none
    memo["x"].append(memo)  # nobody loses the way in what has itself inside
    with pytest.raises(ModelError, match="`memo` of Counting was changed while steps were read"):
        system_of(with_more(memo=memo, remembers=remembers))

    class Ring(System):
        on = per(Seat, boolean())
        turn = 0

        def setup(self) -> None:
            for seat in self.universe[Seat]:
                seat.next = self.universe[Seat][(seat.index + 1) % 2]  # type: ignore[attr-defined]

        @step(actor="x")
        def go(self, seat: Seat) -> None:
            require(self.on[seat.next], seat.shown != "")  # type: ignore[attr-defined]
            self.on[seat] = True
            if _logger.isEnabledFor(
                logging.DEBUG
            ):  # which the logger notes, in an object that is nobody's here
                _logger.debug("%s", seat.name)

    assert system_of(Ring)

    def marks(entity: Any) -> None:
        entity.marked = True

    def lights(entity: Any) -> None:
        entity.lit[entity.name] = True

    def turns(entity: Any) -> None:
        Seat.turn = 1  # type: ignore[attr-defined]

    def sets(entity: Any) -> None:
        Ring.turn += 1

    def appends(entity: Any) -> None:
        entity.waits.append(1)

    def keeps(entity: Any) -> None:
        entity.memo.k = 1

    def counts(entity: Any) -> None:
        global _counted
        _counted += 1

    for change, said in (
        (appends, "`waits` of Seat"),
        (keeps, "`memo` of Seat"),
        (counts, "`_counted` of the module"),
        (marks, "`marked` of a Seat"),
        (lights, "`lit` of Seat"),
        (turns, "`turn` of Seat"),
        (sets, "`turn` of Changing"),
    ):
        with pytest.raises(ModelError, match=f"{said} was changed while steps were read"):
            system_of(made("Changing", Ring, changes=one_more(Seat, change)))


def test_numbers_that_no_engine_computes() -> None:
    class Wide(System):
        x, y = integer(0, 2**40), integer(0, 2**40)

        @step(actor="x")
        def go(self) -> None:
            self.y = clamp(self.x * self.x, 0, 9)

    with pytest.raises(
        ModelError, match=r"this can be 0..1208925819614629174706176: numbers have up to 62 bits"
    ) as wide:
        system_of(Wide)
    assert wide.value.location[0] == __file__
    with pytest.raises(ModelError, match=r"`counting.big` ranges over 0..4611686018427387904: numbers have"):
        system_of(with_more(big=integer(0, 2**62)))
    assert system_of(with_more(big=integer(-(2**62), 2**62 - 1)))


class Empty(Enum):
    pass


class Spelt(Entity):
    members = "abc"


class Twins(Entity):
    members = ("left", "left")


class Many(Entity):
    members = (f"m{i}" for i in range(2))  # type: ignore[assignment]


class Nobody(Entity):
    members = ()


class Mixed(Entity):
    members = ("left", 2)  # type: ignore[assignment]


class Stateful(Entity):
    members = 2
    busy = boolean()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"universe": boolean()}, "`universe` of Counting is a name of the language itself"),
        ({"at": per(Spelt, boolean())}, "`members` of Spelt is `'abc'`: write a number, or up to 64 different names"),
        ({"at": per(Mixed, boolean())}, "`members` of Mixed is `\\('left', 2\\)`: write a number, or up to 64 different names"),
        ({"at": per(Many, boolean())}, "`members` of Many is `<generator"),
        ({"at": per(Nobody, boolean())}, "`members` of Nobody is `\\(\\)`: write a number"),
        ({"setup": boolean()}, "`setup` of Counting is a name of the language itself"),
        ({"at": per(Twins, boolean())}, "`members` of Twins is `\\('left', 'left'\\)`: write"),
        ({"at": per(Stateful, boolean())}, "`busy` is state, and stands in Stateful: write `busy = per\\(Stateful, ...\\)` into Counting"),
        ({"__dataclass_fields__": {}}, "Counting is a dataclass: take `@dataclass` away"),
    ],
)  # fmt: skip
def test_classes_that_would_say_something_else(what: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        system_of(with_more(**what))
    with pytest.raises(ModelError, match="`Empty` has no members"):
        enum(Empty)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda s: range(s.n), "a symbolic value is no number of Python's"),
        (lambda s: [1, 2][s.n], "a symbolic value is no number of Python's"),
        (lambda s: int(s.n), "a symbolic value is no number of Python's"),
        (lambda s: s.waits.append(1), "a queue has no `append`: it has capacity, length"),
        (lambda s: s.waits[2], "the positions of this queue are the numbers 0 to 1"),
        (lambda s: s.waits[s.n], "the positions of this queue are the numbers 0 to 1"),
        (lambda s: list(s.waits), "loop over positions"),
        (lambda s: clamp(s.n, 3, 0), "`clamp` to 3..0: the lower bound comes first"),
        (lambda s: 6 // s.n, "the divisor must be positive, such as `clamp\\(..., 1, 3\\)`"),
        (lambda s: 6 % s.n, "the divisor must be positive"),
        (lambda s: require(s.explains), "`explains` is a method: call it, `explains\\(...\\)`"),
        (lambda s: s.n ^ 1, "expected a value of sort bool, got one of sort int"),
    ],
)  # fmt: skip
def test_what_the_language_does_not_know_is_said(body: Any, message: str) -> None:
    @step(actor="y")
    def go_on(self: Any) -> None:
        body(self)

    with pytest.raises(ModelError, match=message):
        system_of(with_more(go_on=go_on))


def test_what_python_knows_the_language_knows() -> None:
    @step(actor="y")
    def go_on(self: Any) -> None:
        require(self.n > 0, self.on ^ True)
        self.waits.push(abs(self.n - 2) + 7 % clamp(self.n, 1, 3))
        self.log[0] = self.waits[0]
        self.log[1] = 3 // clamp(self.n, 1, 3)

    system = system_of(with_more(go_on=go_on))
    (other,) = [number for number, t in enumerate(system.transitions) if t.step == "go_on"]
    judge = Interpreter(system)
    found = {}
    for n in range(1, 4):
        state = tuple(n if v.name == "counting.n" else v.initial for v in system.variables)
        seen = system.describe(judge.successor(state, other))
        found[n] = seen["counting.waits[0]"], seen["counting.log[0]"], seen["counting.log[1]"]
    assert found == {1: (1, 1, 3), 2: (1, 1, 1), 3: (2, 2, 1)}


def test_several_conditions_that_must_not_go_on() -> None:
    @liveness
    def moves(self: Any) -> Any:
        return [self.n == 3, self.on]

    system = system_of(with_more(moves=moves))
    assert [case.name for case in system.livenesses["moves"]] == ["moves (1)", "moves (2)"]
    (result,) = check(system)
    assert (result.verdict.name, result.trace.case) == ("VIOLATED", "moves (1)")  # type: ignore[union-attr]


def test_what_is_computed_once_is_no_condition_on_state() -> None:
    def full(self: Any) -> Any:
        return self.n == 3

    with pytest.raises(
        ModelError, match="`full` of Counting is computed once, and state changes: write `@property`"
    ):
        system_of(with_more(full=cached_property(full)))
    with pytest.raises(ModelError, match="`full` of Counting is computed once"):
        system_of(with_more(full=cache(full)))


def test_steps_behind_a_wrapper_and_names_that_nobody_needs() -> None:
    def logged(function: Any) -> Any:
        @wraps(function)
        def inner(*args: Any) -> Any:
            return function(*args)

        return inner

    @step(actor="y")
    @logged
    def go_on(self: Any, lamp: Lamp) -> None:
        self.reset = True

    def setup(self: Any, start: int = 2) -> None:
        self.n = start

    system = system_of(with_more(go_on=go_on, setup=setup, reset=boolean(), scope=integer(0, 3)))
    assert [t.label for t in system.transitions] == [
        "counting.go()", "counting.go_on(lamp=red)", "counting.go_on(lamp=green)",
    ]  # fmt: skip
    assert system.describe(system.initial)["counting.n"] == 2


def test_steps_that_could_not_be_called() -> None:
    @step(actor="y")
    def alone() -> None:
        """Nothing."""

    @step(actor="y")
    def behind(self: Any, *, lamp: Lamp) -> None:
        """Nothing."""

    @step(actor="y")
    def none(self: Any, k: Annotated[int, range(0)]) -> None:
        """Nothing."""

    for function, message in (
        (alone, "step `alone` has no `self`: a step is a method"),
        (behind, "step `behind` has parameters behind a `\\*`: take that away"),
        (none, "parameter `k` of step `none` has no value: its range is empty"),
    ):
        with pytest.raises(ModelError, match=message):
            system_of(with_more(**{function.__name__: function}))


def test_conditions_count_one() -> None:
    class Sums(System):
        a, b = boolean(True), boolean()
        n = integer(0, 2)

        @step(actor="x")
        def add(self) -> None:
            self.n = self.a + self.b

        @invariant
        def small(self) -> Value:
            return self.a * 2 - self.b + self.n < 3

    (result,) = check(system_of(Sums))
    assert (result.verdict.name, str(result.trace)) == ("VIOLATED", "1. sums.add()")


def verdicts(root: Any) -> dict[str, str]:
    return {r.property_id: r.verdict.name for r in check(system_of(root))}


class Switch(Component):
    on, turned = boolean(), boolean()

    @step(actor="hand")
    def flip(self) -> None:
        self.on = negate(self.on)
        self.turned = True

    @liveness
    def never_turned(self) -> Value:
        return negate(self.turned)


class OwnSwitch(Switch):
    @step(actor="hand", each="self")
    def flip(self) -> None:
        super().flip()


class Pair(Model):
    left: Switch
    right: Switch


class OwnPair(Model):
    left: OwnSwitch
    right: OwnSwitch


def test_parts_of_one_class_share_an_actor_unless_each_is_one() -> None:
    assert verdicts(Pair) == {"left.never_turned": "VIOLATED", "right.never_turned": "VIOLATED"}
    assert verdicts(OwnPair) == {"left.never_turned": "HOLDS", "right.never_turned": "HOLDS"}
    assert [f.name for f in system_of(OwnPair).fair_sets] == ["hand of left", "hand of right"]


class Wires(System):
    on = per(Lamp, boolean())
    sent = per(Lamp, per(Level, boolean()))

    @step(actor="wire", each=("lamp", "level"))
    def send(self, lamp: Lamp, level: Level) -> None:
        self.on[lamp] = negate(self.on[lamp])
        self.sent[lamp][level] = True

    @liveness
    def never_sent(self, lamp: Lamp, level: Level) -> Value:
        return negate(self.sent[lamp][level])


def test_several_parameters_together_can_be_an_actor() -> None:
    assert [f.name for f in system_of(Wires).fair_sets][:2] == ["wire of red, LOW", "wire of red, MIDDLE"]
    assert set(verdicts(Wires).values()) == {"HOLDS"}


class Bulb(Entity):
    members = ("green", "blue")


class Lights(System):
    on = boolean()

    @step(actor="hand", each="lamp")
    def one(self, lamp: Lamp) -> None:
        self.on = True

    @step(actor="hand", each="bulb")
    def other(self, bulb: Bulb) -> None:
        self.on = False


def test_actors_of_one_name_and_two_kinds_are_refused() -> None:
    message = "actor `hand of green` of step `other` is of Bulb, and of Lamp in another step"
    with pytest.raises(ModelError, match=message):
        system_of(Lights)
