"""A liveness that holds only because a constraint holds back every run is vacuous."""

from __future__ import annotations

from podrace.checker.search import check
from podrace.model.asked_for import asked_for
from podrace.model.language import (
    Case,
    Component,
    Model,
    TransitionSystem,
    Universe,
    as_expr,
    boolean,
    build,
    constraint,
    integer,
    require,
    step,
    trace_system,
)
from podrace.reports.verdict_words import verdict_words


class Shop(Component):
    """Somebody waits to be served; the server would serve, but for the bound. `closes`: it may close instead, and then nobody acts."""

    served = boolean()
    closed = boolean()
    minute = integer(0, 3)

    @step(actor="clock", fair=False)
    def tick(self) -> None:
        require(self.minute < 3)
        self.minute = 3

    @step(actor="server")
    def serve(self) -> None:
        require(~self.served & ~self.closed)
        constraint("servings: at most 0", self.minute == 2)
        self.served = True


class Closing(Shop):
    @step(actor="owner", fair=False)
    def close(self) -> None:
        require(~self.closed & self.served)
        self.closed = True


class LateClosing(Shop):
    @step(actor="owner", fair=False)
    def close(self) -> None:
        require(~self.closed & (self.minute == 3))
        self.closed = True


class Town(Model):
    shop: Shop


def system(shop: type[Shop]) -> TransitionSystem:
    model = build(Town, Universe({}), [shop] if shop is not Shop else [])
    part = model.parts["shop"]
    return trace_system(
        model,
        "shop",
        livenesses={
            "L": lambda: (Case("waits in an open shop", ~as_expr(part.served) & ~as_expr(part.closed), ()),)
        },
        witnesses={"L: somebody waits": lambda: ~as_expr(part.served)},
    )


def test_no_run_is_fair_where_a_constraint_holds_back_each() -> None:
    for shop in (Shop, Closing):
        (found,) = check(system(shop), parts=asked_for)
        assert found.verdict.name == "HOLDS"
        assert found.coverage.witnesses_missed == ()
        assert found.coverage.held_back == ("servings: at most 0",)
        assert found.vacuous
        assert "Vacuous: no run is fair, as each is held back by servings: at most 0." in verdict_words(found)


def test_one_fair_run_is_enough() -> None:
    (found,) = check(system(LateClosing), parts=asked_for)
    assert (found.verdict.name, found.coverage.held_back, found.vacuous) == ("HOLDS", (), False)
