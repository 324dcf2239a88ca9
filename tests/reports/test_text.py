"""The report for people."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import msgspec
import pytest
from rich.console import Console

from podrace.reports.document import FROM_CACHE, Finding
from podrace.reports.text.findings_text import NOTHING_CLOSES, Extent, conclusion, print_report, scope_words
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, AT_ONCE, HOLDS, NO_WAY_BACK, VIOLATED
from tests.reports.shown import SHOWN


class AsciiStream(io.StringIO):
    encoding = "ascii"


def text_of(
    findings: list[Finding],
    width: int = 100,
    stream: io.StringIO | None = None,
    colour: bool = False,
    extent: Extent = "usual",
    closings: Mapping[int, Sequence[str]] = NOTHING_CLOSES,
) -> str:
    stream = stream or io.StringIO()
    console = Console(
        file=stream, width=width, highlight=False, markup=False, emoji=False,
        force_terminal=colour, color_system="standard" if colour else None, no_color=not colour,
    )  # fmt: skip
    print_report(console, findings, extent, closings)
    return stream.getvalue()


def test_every_verdict() -> None:
    assert_golden("all.txt", text_of(ALL))


def test_every_verdict_with_all_that_there_is() -> None:
    assert_golden("whole.txt", text_of(ALL, extent="whole"))


def test_every_verdict_in_brief() -> None:
    assert_golden("brief.txt", text_of(ALL, width=80, extent="brief"))


def test_a_race_told_in_prose() -> None:
    """The cluster, the steps with what each brings about, the end, what would have helped, and then the table."""
    assert_golden("told.txt", text_of([SHOWN], width=80, closings={0: ["12345 closes it."]}))


def test_lanes_and_functions_come_when_they_are_asked_for() -> None:
    usual, whole = (text_of([VIOLATED, HOLDS], extent=extent) for extent in ("usual", "whole"))
    for said in (
        "pop(p)  NextPod: take the head of activeQ",
        "Steps that never ran (1 of 3): users.delete_node.",
    ):
        assert said not in usual
        assert said in whole
    assert "  1. scheduler: pop(p) (NextPod: take the head of activeQ); queue: p leaves activeQ." in usual


def test_what_was_kept_is_told_only_to_those_who_ask() -> None:
    kept = msgspec.structs.replace(HOLDS, notes=(FROM_CACHE, "another note"), seconds=1.25)
    usual, whole = text_of([kept], 200), text_of([kept], 200, extent="whole")
    assert (FROM_CACHE in usual, "1.25 s" in usual, "another note" in usual) == (False, False, True)
    assert (FROM_CACHE in whole, "1.25 s" in whole) == (True, True)


def test_the_table_and_the_conclusion_come_last() -> None:
    lines = text_of([HOLDS, VIOLATED]).splitlines()
    assert [line.split()[0] for line in lines[-4:]] == ["scenario", *["nominated-node-race"] * 2, "All"]
    assert conclusion([HOLDS, VIOLATED]) == "All 2 verdicts are as expected"
    other = msgspec.structs.replace(HOLDS, expected="VIOLATED")
    assert conclusion([other, VIOLATED]) == "1 of 2 verdicts NOT as expected"
    free = [msgspec.structs.replace(f, expected=None) for f in (HOLDS, VIOLATED, VIOLATED)]
    assert conclusion(free) == "3 verdicts: 1 HOLDS, 2 VIOLATED"


def test_a_table_that_is_too_wide_has_the_scenarios_above_their_rows() -> None:
    narrow = text_of([HOLDS, VIOLATED], width=60).splitlines()[-5:]
    assert narrow == [
        "release       property  verdict   bounds  the race is",
        "nominated-node-race",
        "1.13 + 72259  S-NOM     HOLDS     1 hit   gone, as expected",
        "1.13          S-NOM     VIOLATED          there, as expected",
        "All 2 verdicts are as expected.",
    ]


def test_the_same_findings_give_the_same_text() -> None:
    assert text_of(ALL) == text_of(ALL)


def test_a_narrow_terminal_gets_a_list() -> None:
    assert_golden("narrow.txt", text_of([VIOLATED], width=40, extent="whole"))


def test_a_terminal_without_unicode() -> None:
    text = text_of([VIOLATED], stream=AsciiStream(), extent="whole")
    assert text.isascii()
    assert "|  1" not in text
    assert_golden("ascii.txt", text)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_of_the_interleaving_is_wider_than_the_terminal(width: int) -> None:
    lines = text_of([VIOLATED, HOLDS, NO_WAY_BACK, AT_ONCE], width=width, extent="whole").splitlines()
    table = 8 if width < 80 else 0
    assert [line for line in lines[: len(lines) - table] if len(line) > width] == []


def test_a_narrow_table_drops_what_matters_least() -> None:
    assert text_of([VIOLATED], width=72).splitlines()[-3].split() == [
        "scenario", "release", "property", "verdict", "the", "race", "is",
    ]  # fmt: skip


def test_colours_only_where_they_are_wanted() -> None:
    assert "\x1b[" in text_of([VIOLATED], colour=True)
    assert "\x1b[" not in text_of([VIOLATED])


def test_markup_in_names_is_text() -> None:
    odd = HOLDS.__class__(
        **{**{f: getattr(HOLDS, f) for f in HOLDS.__struct_fields__}, "title": "[red]x[/red] :smile:"}
    )
    assert "[red]x[/red] :smile:" in text_of([odd])


def test_an_unexpected_outcome_stands_out() -> None:
    fields = {f: getattr(HOLDS, f) for f in HOLDS.__struct_fields__}
    table = text_of([Finding(**{**fields, "expected": "VIOLATED"})], width=120)
    assert "gone, NOT EXPECTED" in table


def test_the_scope_names_what_may_happen() -> None:
    assert scope_words({"pod_events": 4, "node_deletions": 0, "pod_gc": True, "flush": False}) == (
        "pod events 4, pod gc, no flush"
    )
