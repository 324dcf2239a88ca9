"""Findings at random, for laws that hold of every report."""

from __future__ import annotations

from typing import cast

from hypothesis import strategies as st

from podrace.reports.document import (
    Finding,
    Fixes,
    NoWayBack,
    Place,
    ShownChange,
    ShownLasso,
    ShownStep,
    Value,
    Word,
)

texts = st.text(max_size=12)
values = cast("st.SearchStrategy[Value]", st.none() | st.booleans() | st.integers(-(2**70), 2**70) | texts)
changes = st.builds(ShownChange, texts, values, values, st.none() | texts, st.booleans())
verdicts = cast("st.SearchStrategy[Word]", st.sampled_from(["HOLDS", "VIOLATED", "INCONCLUSIVE"]))
places = st.builds(
    Place, texts.filter(bool), st.integers(1, 99), st.dictionaries(texts, st.integers(1, 99), max_size=2)
)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding whose parts fit together; its texts are anything."""
    verdict = draw(verdicts)
    count = draw(st.integers(0, 4)) if verdict == "VIOLATED" else 0
    steps = tuple(
        ShownStep(
            number,
            draw(texts),
            draw(texts),
            draw(texts),
            draw(st.dictionaries(texts, values, max_size=2)),
            draw(texts),
            tuple(draw(st.lists(changes, max_size=2))),
            draw(texts),
        )
        for number in range(1, count + 1)
    )
    turn = draw(st.integers(0, count))
    no_way_back = NoWayBack(3, True) if verdict == "VIOLATED" and draw(st.booleans()) else None
    goes_on = no_way_back is not None or (verdict == "VIOLATED" and draw(st.booleans()))
    lasso = ShownLasso(draw(texts), turn, count - turn) if goes_on and no_way_back is None else None
    return Finding(
        scenario=draw(texts),
        release=draw(texts),
        fixes=Fixes(tuple(draw(st.lists(texts, max_size=1)))),
        property=draw(texts),
        verdict=verdict,
        states=draw(st.integers(0, 10**9)),
        transitions=1,
        depth=1,
        seconds=draw(st.none() | st.floats(0, 1e6)),
        trace=steps[: turn if goes_on else count] if verdict == "VIOLATED" else None,
        cycle=steps[turn:] if goes_on else (),
        no_way_back=no_way_back,
        lasso=lasso,
        words=draw(texts),
        expected=draw(st.none() | verdicts.filter(lambda v: v != "INCONCLUSIVE")),
        notes=tuple(draw(st.lists(texts, max_size=1))),
        title=draw(texts),
        sentence=draw(texts),
        issues=tuple(draw(st.lists(st.integers(1, 10**6), max_size=2))),
        vacuous=verdict == "HOLDS" and draw(st.booleans()),
        place=draw(st.none() | places),
    )
