"""Tables with numbers for keys, against plain Python and against misuse; and what a queue gives when it is popped."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.model.language import (
    Concrete,
    Entity,
    Model,
    ModelError,
    NotEnabled,
    Record,
    System,
    Value,
    boolean,
    build,
    clamp,
    fifo,
    integer,
    invariant,
    per,
    record,
    ref,
    require,
    step,
    system_of,
    when,
)
from podrace.model.language.expressions.sorts import Universe
from tests.tools.export.promela import to_promela


class Peer(Entity):
    members = 2


class Log(System):
    """A log that is written to at its end, and of which the last entry can be taken away or told."""

    entries = per(range(3), integer(0, 2))
    length = integer(0, 3)
    told = integer(0, 2)

    @step(actor="writer")
    def append(self, value: bool) -> None:
        require(self.length < 3)
        self.entries[self.length] = 1 + value
        self.length = self.length + 1

    @step(actor="writer")
    def cut(self) -> None:
        require(self.length > 0)
        self.length = self.length - 1
        self.entries[self.length] = 0

    @step(actor="reader")
    def tell(self) -> None:
        with when(self.length > 0):
            self.told = self.entries[self.length - 1]

    @invariant
    def the_rest_is_empty(self) -> Value:
        return (self.length > 1) | (self.entries[1] == 0)


class Logging(Model):
    log: Log


def _universe(*kinds: type[Entity]) -> Universe:
    return Universe({kind: [kind(i, f"{kind.__name__}{i}") for i in range(2)] for kind in kinds})


@given(st.lists(st.sampled_from(["append", "other", "cut", "tell"]), max_size=20))
def test_a_numbered_table_does_what_a_list_does(ran: list[str]) -> None:
    model = Concrete(build(Logging, _universe()))
    own = model.part("log")
    assert isinstance(own, Log)
    log: list[int] = []
    told = 0
    for name in ran:
        if name in ("append", "other"):
            if len(log) == 3:
                with pytest.raises(NotEnabled):
                    model.do(lambda: own.append(True))
            else:
                model.do(partial(own.append, name == "other"))
                log.append(2 if name == "other" else 1)
        elif name == "cut":
            if log:
                model.do(own.cut)
                log.pop()
            else:
                with pytest.raises(NotEnabled):
                    model.do(own.cut)
        else:
            model.do(own.tell)
            told = log[-1] if log else told
        assert model.get(lambda: [own.entries[i] for i in range(3)]) == log + [0] * (3 - len(log))
        assert model.get(lambda: (own.length, own.told)) == (len(log), told)


def test_a_numbered_table_is_searched_and_exported() -> None:
    system = system_of(Log)
    found = explore(system, Budget())
    # 1, 2, 4 and 8 logs, each with three values told; 2 and 1 cannot be told before they were written.
    assert found.states == 15 * 3
    assert "entries_1" in to_promela(system) or "entries[1]" in to_promela(system)


class Beyond(System):
    entries = per(range(1, 4), boolean())
    at = integer(0, 3)

    @step(actor="a")
    def write(self) -> None:
        self.entries[self.at] = True


class Outside(Beyond):
    @step(actor="a")
    def write(self) -> None:
        self.entries[4] = True


class ByEntity(Beyond):
    who = ref(Peer)

    @step(actor="a")
    def write(self) -> None:
        self.entries[self.who] = True


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            Beyond,
            "this table is for the numbers 1..3, but the index can be 0..3: make it longer, `require` first that it cannot, or use `clamp`",
        ),
        (Outside, "this table is for the numbers 1..3, not 4"),
        (ByEntity, "this table is for the numbers 1..3; it cannot be indexed with a ref Peer"),
    ],
)
def test_an_index_that_is_no_key_is_a_mistake(model: type[System], message: str) -> None:
    with pytest.raises(ModelError) as raised:
        system_of(model)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (range(0), "`per` needs numbers one after the other, not `range(0, 0)`"),
        (range(0, 4, 2), "`per` needs numbers one after the other, not `range(0, 4, 2)`"),
        (int, "`per` needs a kind of entity, an enum or a range, not `<class 'int'>`"),
        (4, "`per` needs a kind of entity, an enum or a range, not `4`"),
    ],
)
def test_what_a_table_can_be_per(kind: Any, message: str) -> None:
    with pytest.raises(ModelError) as raised:
        per(kind, boolean())
    assert raised.value.message == message


class Inner(Record):
    deep = boolean()


class Letter(Record):
    sender = ref(Peer)
    number = integer(0, 3)
    inner = record(Inner)


class Post(System):
    box = fifo(2, record(Letter))
    numbers = fifo(2, integer(0, 3))
    got = record(Letter)
    number = integer(0, 3)

    @step(actor="sender")
    def send(self, who: Peer, deep: bool) -> None:
        self.box.push(Letter(sender=who, number=1 + who.index, inner=Inner(deep=deep)))
        self.numbers.push(1 + who.index)

    @step(actor="receiver")
    def receive(self) -> None:
        letter = self.box.pop()
        # It is a value of its own: what comes to the head since is something else.
        letter.number = clamp(letter.number + 1, 0, 3)
        self.got = letter
        self.number = self.numbers.pop()


class Posting(Model):
    post: Post


def _as_told(sender: Any, number: int, deep: bool) -> dict[str, Any]:
    return {"sender": sender, "number": number, "inner": {"deep": deep}}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 1), st.booleans()), max_size=12))
def test_a_pop_gives_the_oldest_entry(ran: list[tuple[bool, int, bool]]) -> None:
    universe = _universe(Peer)
    peers = universe[Peer]
    model = Concrete(build(Posting, universe))
    own = model.part("post")
    assert isinstance(own, Post)
    waiting: list[tuple[Any, int, bool]] = []
    for sends, who, deep in ran:
        if sends and len(waiting) < 2:
            model.do(partial(own.send, peers[who], deep))
            waiting.append((peers[who], 1 + who, deep))
        elif not sends:
            model.do(own.receive)
            sender, number, inside = waiting.pop(0) if waiting else (None, 0, False)
            assert model.get(lambda: own.got) == _as_told(sender, number + 1, inside)
            assert model.get(lambda: own.number) == number
            assert model.get(lambda: own.box.head) == _as_told(*(waiting[0] if waiting else (None, 0, False)))


class Held(Record):
    what = integer(0, 3)
    times = per(range(2), integer(0, 3))


class Tables(System):
    entries = per(range(2), integer(0, 3))
    others = per(range(2), integer(0, 3))
    held = per(range(2), record(Held))
    told = integer(0, 3)


def _another_table(s: Any) -> Any:
    s.entries = s.others
    return s.entries[0]


def _another_record(s: Any) -> Any:
    s.held[0] = s.held[1]
    return s.held[0].times[0]


@pytest.mark.parametrize("change", [_another_table, _another_record])
def test_a_table_that_is_read_after_it_got_another(change: Any) -> None:
    class Reads(Tables):
        @step(actor="writer")
        def read_then(self) -> None:
            self.told = change(self)

    assert system_of(Reads)


@pytest.mark.parametrize(
    "name",
    ["swap_tables", "swap_records", "keep_a_table", "keep_a_record"],
)
def test_a_table_that_was_read_before_it_got_another_is_refused(name: str) -> None:
    """It would be read as it is now, and a swap would give both the same."""

    def swap_tables(self: Any) -> None:
        self.entries, self.others = self.others, self.entries

    def swap_records(self: Any) -> None:
        self.held[0], self.held[1] = self.held[1], self.held[0]

    def keep_a_table(self: Any) -> None:
        old = self.entries
        self.entries = self.others
        self.told = old[0]

    def keep_a_record(self: Any) -> None:
        old = self.held[0]
        self.held[0] = self.held[1]
        self.told = old.times[0]

    body = {f.__name__: f for f in (swap_tables, swap_records, keep_a_table, keep_a_record)}[name]
    cls = type("Both", (Tables,), {"__module__": __name__, name: step(actor="writer")(body)})
    with pytest.raises(ModelError, match="another table was assigned to this one since it was read here"):
        system_of(cls)


def test_a_record_that_was_copied_is_no_place() -> None:
    class Two(System):
        held = record(Held)

        @step(actor="writer")
        def change_the_copy(self) -> None:
            for copied in (copy.copy(self.held), copy.deepcopy(self.held)):
                copied.what = 1

    (changes,) = system_of(Two).transitions
    assert changes.updates == {}


def test_a_record_keeps_nothing_else() -> None:
    class Two(System):
        held = record(Held)

        @step(actor="writer")
        def note(self) -> None:
            self.held._seen = 1

    with pytest.raises(ModelError, match="Held has no field `_seen`; its fields: what, times"):
        system_of(Two)


def test_a_place_in_a_queue_is_counted_from_the_oldest() -> None:
    class One(System):
        waits = fifo(2, integer(0, 3))
        told = integer(0, 3)

        @step(actor="reader")
        def newest(self) -> None:
            self.told = self.waits.entry(-1)

    with pytest.raises(ModelError, match="the positions of this queue are the numbers 0 to 1, counted from"):
        system_of(One)
