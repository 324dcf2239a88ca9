"""Words that components declare: which sentence tells a step, how changes are told, who knows what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pytest

from podrace.checker.trace.fingerprint import fingerprint
from podrace.model.language import (
    ANYTHING,
    NOTHING,
    SOMETHING,
    UNTOLD,
    Channel,
    Component,
    Entity,
    Fact,
    Knowledge,
    Model,
    ModelError,
    Narration,
    Reader,
    Record,
    Sentence,
    TransitionSystem,
    Universe,
    Words,
    boolean,
    build,
    changes,
    enum,
    fifo,
    finds,
    integer,
    per,
    ref,
    spoken,
    step,
    tells,
    trace_system,
    words,
)


class Dish(Entity):
    """What a guest may order."""

    about = "dish {}"


class Guest(Entity):
    """Somebody who is hungry."""


@spoken(EATING="at table", DONE="on the way home")
class Mood(Enum):
    """How a guest is."""

    HUNGRY = 0
    EATING = 1
    DONE = 2


class Plate(Record):
    """What stands before a guest."""

    dish = ref(Dish)
    warm = boolean()


class Order(Record):
    """What a guest has asked for."""

    guest = ref(Guest)
    dish = ref(Dish)


SERVED = Fact("dish", "served {value}", "served nothing", compared=True)


class Kitchen(Component):
    """It cooks."""

    orders = fifo(2, Order)
    stock = per(Dish, boolean(True))
    taken = integer(0, 2)

    phrases = words({"stock": Words("kitchen: {0} is there again", "kitchen: {0} is out", decisive=True)})
    knowledge = (Knowledge("kitchen", {"stock": Fact("there", "there", "out")}),)
    channels = (
        Channel(
            "orders", "orders", "guest", (Reader("the cook", "kitchen.taken", busy="kitchen.stock[pie]"),)
        ),
    )

    @step(actor="cook")
    def run_out(self, dish: Dish) -> None:
        """Nothing is left of a dish."""
        self.stock[dish] = False


class Room(Component):
    """Guests and their plates."""

    kitchen: Kitchen

    mood = per(Guest, enum(Mood))
    plate = per(Guest, Plate)
    visits = integer(0, 3)

    phrases = words(
        {
            "mood": Words("{0} is {after}", "{0} is {before} no more"),
            "plate.dish": Words("{0} has {after}, from the {waiter}"),
        }
    )
    knowledge = (
        Knowledge("room", {"mood": "mood", "plate.dish": SERVED}, key="mood"),
        Knowledge("ledger", {"visits": "visits"}, subject="the evening", fleeting=True),
    )
    reads = (("orders", Reader("the room")),)

    @step(actor="waiter")
    @tells(
        changes("room.plate.dish", SOMETHING, SOMETHING),
        "{guest} gets {after} instead of {before}.",
        changes("room.plate.dish", after=SOMETHING),
        "{guest} gets {after}; the {cook} cooked it for {0}.",
        changes("room.plate"),
        "{guest} gets something.",
        changes("room.mood", before=Mood.EATING, after=NOTHING),
        "{guest} finds no plate.",
        "{guest} gets nothing.",
    )
    def serve(self, guest: Guest, dish: Dish) -> None:
        """Bring a dish."""
        self.plate[guest] = Plate(dish=dish, warm=True)
        self.mood[guest] = Mood.EATING

    @step(actor="waiter")
    def clear(self, guest: Guest) -> None:
        """Take the plate away."""
        self.plate[guest] = Plate()


class Restaurant(Model):
    """The whole of it."""

    kitchen: Kitchen
    room: Room

    view_order = ("room",)


DISHES, GUESTS = (Dish(0, "pie"), Dish(1, "soup")), (Guest(0, "ann"),)
PIE, SOUP = DISHES
(ANN,) = GUESTS


@dataclass(frozen=True)
class Change:
    variable: str
    before: Any
    after: Any


def system(*patches: type[Component]) -> TransitionSystem:
    return trace_system(build(Restaurant, Universe({Dish: DISHES, Guest: GUESTS}), patches))


NARRATION = system().narration
ARGUMENTS = (("guest", ANN), ("dish", PIE))


def told(*done: Change, narration: Narration = NARRATION) -> str | None:
    return narration.sentence("room.serve", ARGUMENTS, done)


DISH = "room.plate[ann].dish"


@pytest.mark.parametrize(
    ("done", "sentence"),
    [
        ((), "ann gets nothing."),
        ((Change(DISH, None, PIE),), "ann gets pie; the the cook cooked it for ann."),
        ((Change(DISH, PIE, SOUP),), "ann gets soup instead of pie."),
        ((Change(DISH, PIE, None),), "ann gets something."),
        ((Change("room.plate[ann].warm", False, True),), "ann gets something."),
        ((Change("room.mood[ann]", Mood.EATING, Mood.HUNGRY),), "ann finds no plate."),
        ((Change("room.mood[ann]", Mood.DONE, Mood.HUNGRY),), "ann gets nothing."),
        ((Change("room.mood[ann]", Mood.EATING, Mood.DONE),), "ann gets nothing."),
        ((Change("kitchen.stock[pie]", True, False), Change(DISH, PIE, SOUP)), "ann gets soup instead of pie."),
        ((Change("room.visits", 1, 2),), "ann gets nothing."),
        ((Change("nowhere.dish", None, PIE),), "ann gets nothing."),
    ],
)  # fmt: skip
def test_the_first_sentence_whose_condition_is_met(done: tuple[Change, ...], sentence: str) -> None:
    assert told(*done) == sentence


def test_what_a_step_found_says_why_it_had_no_effect() -> None:
    class Polite(Room):
        @step(actor="waiter")
        @tells(
            changes("room.plate.dish", after=SOMETHING),
            "{guest} gets {after}.",
            finds("kitchen.stock", "dish", False),
            "{dish} is out.",
            finds("room.plate.dish", "guest", NOTHING),
            "{guest} waits.",
            "Nothing happens.",
        )
        def serve(self, guest: Guest, dish: Dish) -> None:
            """Bring it."""

    narration = system(Polite).narration

    def told_with(done: tuple[Change, ...] = (), stock: bool = True, plate: Dish | None = None) -> str | None:
        values = {"kitchen.stock[pie]": stock, DISH: plate}
        return narration.sentence("room.serve", ARGUMENTS, done, values)

    assert told_with((Change(DISH, None, PIE),), stock=False) == "ann gets pie."
    assert told_with(stock=False) == "pie is out."
    assert told_with() == "ann waits."
    assert told_with(plate=SOUP) == "Nothing happens."
    assert narration.sentence("room.serve", ARGUMENTS, ()) == "Nothing happens."


def test_a_condition_on_state_that_there_is_not() -> None:
    class Odd(Room):
        @step(actor="waiter")
        @tells(finds("room.nothing", "guest", True), "Never.")
        def serve(self, guest: Guest, dish: Dish) -> None:
            """Nothing."""

    with pytest.raises(ModelError, match=r"speak of `room.nothing`, which is no state"):
        system(Odd)


def test_a_step_without_sentences_has_none() -> None:
    assert NARRATION.sentence("room.clear", ARGUMENTS, ()) is None
    assert NARRATION.sentence("nobody.knows", (), ()) is None


@pytest.mark.parametrize(
    "said", [(changes("room.mood"),), (changes("room.mood"), changes("room.plate"), "Here.")]
)
def test_a_condition_without_its_sentence(said: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"no sentence stands behind the condition on room\.mood"):
        tells(*said)(Room.serve)


def test_none_of_the_conditions() -> None:
    class Silent(Room):
        @step(actor="waiter")
        @tells(Sentence("Never.", changes("room.visits")))
        def serve(self, guest: Guest, dish: Dish) -> None:
            """Nothing."""

    assert told(narration=system(Silent).narration) is None


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        (Change("room.mood[ann]", Mood.HUNGRY, Mood.EATING), ("ann is at table", False)),
        (Change("room.mood[ann]", Mood.EATING, Mood.HUNGRY), ("ann is at table no more", False)),
        (Change(DISH, None, SOUP), ("ann has soup, from the the waiter", False)),
        (Change(DISH, SOUP, None), ("", False)),
        (Change("kitchen.stock[pie]", True, False), ("kitchen: pie is out", True)),
        (Change("room.plate[ann].warm", False, True), ("", False)),
        (Change("room.visits", 1, 2), ("", False)),
        (Change("kitchen.orders[0].dish", None, PIE), ("", False)),
        (Change("nowhere", 1, 2), None),
    ],
)
def test_changes(change: Change, phrase: tuple[str, bool] | None) -> None:
    assert NARRATION.phrase(change, ARGUMENTS) == phrase


class Tip(Room):
    """A patch that says nothing of what it adds."""

    tip = integer(0, 1)

    @step(actor="guest")
    def pay(self, guest: Guest) -> None:
        """Pay."""
        self.tip = 1

    def serve(self, guest: Guest, dish: Dish) -> None:
        """Bring two."""
        self.plate[guest] = Plate(dish=dish)


class ToldTip(Tip):
    """The same with words."""

    phrases = words({"tip": Words("a tip of {after}")})

    @step(actor="guest")
    @tells("{guest} pays.")
    def pay(self, guest: Guest) -> None:
        """Pay."""

    @tells("{guest} gets two.")
    def serve(self, guest: Guest, dish: Dish) -> None:
        """Bring two."""


class Quiet(Room):
    """A patch whose state is bookkeeping."""

    tip = integer(0, 1)
    phrases = UNTOLD


def test_what_a_patch_does_not_declare_is_not_hidden() -> None:
    found = system(Tip).narration
    assert found.phrase(Change("room.tip", 0, 1), ()) is None
    assert found.phrase(Change("room.visits", 0, 1), ()) == ("", False)
    assert found.sentence("room.pay", ARGUMENTS, ()) is None


def test_a_patch_declares_words_of_its_own() -> None:
    class Words1(Room):
        tip = integer(0, 1)
        phrases = words({"tip": Words("a tip of {after}")})

    found = system(ToldTip).narration
    assert found.sentence("room.pay", ARGUMENTS, ()) == "ann pays."
    assert found.phrase(Change("room.mood[ann]", Mood.HUNGRY, Mood.EATING), ()) == ("ann is at table", False)
    for narration in (found, system(Words1).narration):
        assert narration.phrase(Change("room.tip", 0, 1), ()) == ("a tip of 1", False)
    assert system(Quiet).narration.phrase(Change("room.tip", 0, 1), ()) == ("", False)


def test_an_overriding_step_is_told_as_before_unless_it_declares_its_own() -> None:
    assert told(Change(DISH, PIE, SOUP), narration=system(Tip).narration) == "ann gets soup instead of pie."
    assert told(Change(DISH, PIE, SOUP), narration=system(ToldTip).narration) == "ann gets two."


def test_the_state_of_bookkeeping_is_never_told() -> None:
    class Monitor(Component):
        bookkeeping = True

    class Counter(Monitor):
        seen = integer(0, 1)

    model = build(Restaurant, Universe({Dish: DISHES, Guest: GUESTS}))
    model.add("mine", Counter)
    assert trace_system(model).narration.phrase(Change("mine.seen", 0, 1), ()) == ("", False)


def test_views() -> None:
    assert [view.view for view in NARRATION.views] == ["room", "kitchen", "ledger"]
    room, kitchen, ledger = NARRATION.views
    assert room.cells == (("room.mood[ann]", "ann", "mood"), (DISH, "ann", "dish"))
    assert (room.key, room.nothing, room.fleeting) == ("mood", "HUNGRY", False)
    assert kitchen.cells == (
        ("kitchen.stock[pie]", "dish pie", "there"),
        ("kitchen.stock[soup]", "dish soup", "there"),
    )
    assert (ledger.cells, ledger.fleeting) == ((("room.visits", "the evening", "visits"),), True)


def test_facts() -> None:
    facts = NARRATION.facts
    assert {name for name, fact in facts.items() if fact.compared} == {"dish"}
    assert (facts["dish"].says, facts["dish"].denies) == ("served {value}", "served nothing")
    assert facts["mood"].says == "mood {value}"
    assert facts["mood"].values == {"EATING": "at table", "DONE": "on the way home", "HUNGRY": ""}


def test_several_parts_share_a_view() -> None:
    class More(Kitchen):
        knowledge = (Knowledge("room", {"taken": "orders taken"}, subject="the room"),)

    found = system(More).narration
    room = next(view for view in found.views if view.view == "room")
    assert [fact for _, _, fact in room.cells] == ["orders taken", "mood", "dish"]
    assert [view.view for view in found.views] == ["room", "kitchen", "ledger"]


def test_channels() -> None:
    (orders,) = NARRATION.channels
    assert (orders.channel, orders.length, orders.subject, orders.about) == (
        "orders",
        "kitchen.orders.length",
        "guest",
        "{}",
    )
    assert orders.entries == tuple(
        ((f"kitchen.orders[{i}].dish", "dish"), (f"kitchen.orders[{i}].guest", "guest")) for i in range(2)
    )
    assert [reader.name for reader in orders.readers] == ["the cook", "the room"]


def test_words_tell_no_two_systems_apart() -> None:
    """They enter no comparison and no fingerprint; slices and copies keep them."""
    told_system = system()
    silent = replace(told_system, narration=Narration())
    assert silent == told_system
    assert fingerprint(silent) == fingerprint(told_system)
    assert "narration=" not in repr(told_system)
    assert told_system.with_predicates(views={}).narration is told_system.narration


class _WrongState(Room):
    phrases = words({"mod": Words("x")})


class _WrongKnowledge(Kitchen):
    knowledge = (Knowledge("kitchen", {"stocks": "x"}),)


class _TwiceKnown(Kitchen):
    knowledge = (Knowledge("kitchen", {"stock": Fact("dish", "there", "out")}),)


class _WrongSentence(Room):
    @step(actor="waiter")
    @tells(changes("room.moods"), "x")
    def clear(self, guest: Guest) -> None:
        """Take the plate away."""


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (_WrongState, "the words of `room` speak of `room.mod`, which is no state of the model"),
        (_WrongKnowledge, "the words of `kitchen` speak of `kitchen.stocks`, which is no state of the model"),
        (_TwiceKnown, "two facts are called `dish`: `there` and `served {value}`"),
        (_WrongSentence, "the words of `room.clear` speak of `room.moods`, which is no state of the model"),
    ],
)
def test_words_for_what_is_not_there(patch: type[Component], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        system(patch)
    assert caught.value.message == message


def test_state_per_a_kind_of_which_there_is_nobody() -> None:
    narration = trace_system(build(Restaurant, Universe({Dish: DISHES, Guest: ()}))).narration
    assert [view.view for view in narration.views] == ["room", "kitchen", "ledger"]
    assert narration.views[0].cells == ()


def test_words_for_a_member_that_an_enum_does_not_have() -> None:
    with pytest.raises(TypeError, match="Mood has no member SLEEPY, TIRED"):
        spoken(TIRED="tired", SLEEPY="sleepy")(Mood)


def test_what_a_condition_may_ask() -> None:
    assert changes("a.b") == changes("a.b", ANYTHING, ANYTHING)
