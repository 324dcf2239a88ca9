"""Classes made quickly are those that the standard library makes."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from podrace.base import structs
from podrace.base.structs import dataclass

OPTIONS = [
    {"frozen": frozen, "slots": slots, "eq": eq}
    for frozen in (False, True)
    for slots in (False, True)
    for eq in (False, True)
]


class _Plain:
    """A pair."""

    one: int
    other: str = "x"
    many: tuple[int, ...] = ()
    made: list[int] = field(default_factory=lambda: [7], compare=False)
    hidden: int = field(default=3, repr=False, compare=False)
    fixed: int = field(default=5, init=False)
    grown: list[int] = field(default_factory=list, init=False, compare=False)
    named: int = field(default=9, kw_only=True)


class _Careful:
    """Refuses what is negative, and knows its own words."""

    number: int = 0

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")

    def __repr__(self) -> str:
        return f"<{self.number}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and abs(self.number - other.number) < 2


class _WithHash:
    """Has a hash of its own."""

    number: int = 0

    def __hash__(self) -> int:
        return 11


def both(plain: type, **options: Any) -> tuple[Any, Any]:
    """The class as the standard library makes it, and as it is made here."""

    def copied() -> type:
        own = {k: copy.copy(v) for k, v in vars(plain).items() if k not in ("__dict__", "__weakref__")}
        return type(plain.__name__, (), own)

    return dataclasses.dataclass(**options)(copied()), dataclass(**options)(copied())


def outcome(act: Callable[[], Any]) -> Any:
    """What an action gives, or how it fails."""
    try:
        return act()
    except Exception as error:
        return type(error), str(error).replace("_Plain.", "")


def behaviour(cls: Any, options: dict[str, bool]) -> list[Any]:
    """What can be seen of a class that `_Plain` was made to."""
    a, b, c = cls(1), cls(one=1, hidden=4), cls(2, "y", (3,), [4], named=1)
    return [
        [f.name for f in dataclasses.fields(cls)],
        cls.__match_args__,
        cls.__doc__,
        repr(c),
        [a == b, a == c, a == 1, a != b],
        outcome(lambda: hash(a) == hash(b)) if options["eq"] else None,
        outcome(lambda: len({a, b, c})),
        outcome(lambda: dataclasses.asdict(c)),
        outcome(lambda: repr(dataclasses.replace(a, one=8, many=(1, 2)))),
        outcome(lambda: [repr(copy.copy(c)), repr(copy.deepcopy(c))]),
        outcome(lambda: setattr(a, "one", 5)),
        outcome(lambda: delattr(a, "one")),
        # With slots, the standard library refuses this with a message about `super`.
        outcome(lambda: setattr(a, "unknown", 5)) if options["frozen"] > options["slots"] else None,
        outcome(cls),
        outcome(lambda: cls(1, unknown=2)),
        outcome(lambda: cls(1, "", (), [], 1, 2)),
        outcome(lambda: cls(1, one=1)),
        outcome(lambda: cls(1, fixed=1)),
        outcome(lambda: (cls(1).fixed, cls(1).grown, cls(1, named=2).named, cls(1, hidden=2).hidden)),
        # A default that is made anew is shown by another word.
        str(inspect.signature(cls)).replace("<factory>", repr(dataclasses.MISSING)),
        a.made is not b.made,
    ]


@pytest.fixture(params=[0, 3, 1000])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many instances are filled without compiling anything: none, some, or all."""
    monkeypatch.setattr(structs, "FEW", request.param)
    return int(request.param)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_does_what_the_standard_one_does(options: dict[str, bool]) -> None:
    standard, quick = both(_Plain, **options)
    assert behaviour(quick, options) == behaviour(standard, options)


def own_words(cls: Any, options: dict[str, bool]) -> list[Any]:
    """What can be seen of a class that says some things itself."""
    return [
        outcome(lambda: repr(cls(-1))),
        repr(cls(1)),
        [cls(1) == cls(2), cls(1) == cls(9)],
        outcome(lambda: hash(cls(4)) == hash(cls(4))) if options["eq"] else None,
    ]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("plain", [_Careful, _WithHash])
def test_what_a_class_says_itself_is_kept(plain: type, options: dict[str, bool]) -> None:
    standard, quick = both(plain, **options)
    assert own_words(quick, options) == own_words(standard, options)


@dataclass(frozen=True, slots=True)
class Base:
    """A class of a module."""

    first: int
    second: str = "b"


@dataclass(frozen=True, slots=True)
class Derived(Base):
    """One that adds to it."""

    third: tuple[int, ...] = ()


class Further(Base):
    """One that is no dataclass."""

    def note(self) -> int:
        self.noted = 5
        return self.noted


def test_classes_that_are_derived_and_what_is_pickled() -> None:
    one = Derived(1, third=(2,))
    assert repr(one) == "Derived(first=1, second='b', third=(2,))"
    assert one != Base(1)
    assert pickle.loads(pickle.dumps(one)) == one
    assert {one: 3}[Derived(1, "b", (2,))] == 3
    match one:
        case Base(first, second):
            assert (first, second) == (1, "b")
    further = Further(3)
    assert further.note() == 5
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'first'"):
        further.first = 4  # type: ignore[misc]


def test_standard_classes_are_derived_from_these_and_are_frozen_alike() -> None:
    @dataclasses.dataclass(frozen=True)
    class Standard(Derived):
        """Made by the standard library."""

        fourth: int = 4

    assert repr(Standard(1)).endswith("Standard(first=1, second='b', third=(), fourth=4)")
    for make in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
            make(type("Loose", (Derived,), {}))


def test_what_holds_itself_is_shown() -> None:
    @dataclass
    class Ring:
        """Holds another."""

        held: Any = None

    ring = Ring()
    ring.held = ring
    assert repr(ring).endswith("Ring(held=...)")


def test_nothing_is_compiled_for_a_few_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def noted(text: str, *rest: Any) -> Any:
        written.append(text)
        return compile(text, *rest)

    monkeypatch.setattr(structs, "compile", noted, raising=False)
    standard, quick = both(_Plain, frozen=True, slots=True)
    for number in range(structs.FEW):
        assert repr(quick(number)) == repr(standard(number))
    assert written == []
    for number in range(3):
        assert quick(number).one == number
    assert len(written) == 1


def test_other_options_are_left_to_the_standard_library() -> None:
    @dataclass(frozen=True, order=True)
    class Ordered:
        """Knows what is less."""

        number: int

    assert Ordered(1) < Ordered(2)


class _Pair(structs.Data):
    one: int
    other: list[int] = field(default_factory=list)


class _Triple(_Pair, slots=False):
    third: str = "x"

    @functools.cached_property
    def text(self) -> str:
        return f"{self.one}{self.third}"


def test_data_needs_no_decorator() -> None:
    """What derives from Data is a class of values, frozen and without a __dict__, unless it asks for one."""
    pair, triple = _Pair(1), _Triple(1, [2], third="y")
    assert (pair, triple) == (_Pair(1, []), dataclasses.replace(_Triple(1, [2]), third="y"))
    assert (repr(pair), triple.text) == ("_Pair(one=1, other=[])", "1y")
    assert pickle.loads(pickle.dumps([pair, triple])) == [pair, triple]
    assert not hasattr(pair, "__dict__")
    for made in (pair, triple):
        with pytest.raises(FrozenInstanceError, match="one"):
            made.one = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing"):
        _Pair()  # type: ignore[call-arg]
