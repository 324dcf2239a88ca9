"""The report for people."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from podrace.reports.document import Finding
from podrace.reports.text.findings_text import print_report, scope_words
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, AT_ONCE, HOLDS, NO_WAY_BACK, VIOLATED


class AsciiStream(io.StringIO):
    encoding = "ascii"


def text_of(
    findings: list[Finding], width: int = 100, stream: io.StringIO | None = None, colour: bool = False
) -> str:
    stream = stream or io.StringIO()
    console = Console(
        file=stream, width=width, highlight=False, markup=False, emoji=False,
        force_terminal=colour, color_system="standard" if colour else None, no_color=not colour,
    )  # fmt: skip
    print_report(console, findings)
    return stream.getvalue()


def test_every_verdict() -> None:
    assert_golden("all.txt", text_of(ALL))


def test_the_same_findings_give_the_same_text() -> None:
    assert text_of(ALL) == text_of(ALL)


def test_a_narrow_terminal_gets_a_list() -> None:
    assert_golden("narrow.txt", text_of([VIOLATED], width=40))


def test_a_terminal_without_unicode() -> None:
    text = text_of([VIOLATED], stream=AsciiStream())
    assert text.isascii()
    assert "|  1" not in text
    assert_golden("ascii.txt", text)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_of_the_interleaving_is_wider_than_the_terminal(width: int) -> None:
    lines = text_of([VIOLATED, HOLDS, NO_WAY_BACK, AT_ONCE], width=width).splitlines()
    table = lines[:5]
    assert [line for line in lines[5:] if len(line) > width] == []
    if width >= 80:
        assert [line for line in table if len(line) > width] == []


def test_a_narrow_table_drops_what_matters_least() -> None:
    assert text_of([VIOLATED], width=72).splitlines()[0].split() == [
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
