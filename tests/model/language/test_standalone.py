"""Systems of one's own: a class with its entities, steps and what must hold, and nothing around it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import pytest

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
    count,
    enum,
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
        (Double, {}, "two parts say what `one_on` is"),
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
