"""Sequence diagrams, and the Markdown around them."""

from __future__ import annotations

import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podrace.reports.ci_outcome import Style
from podrace.reports.document import Finding, ShownChange, ShownStep
from podrace.reports.formats.markdown import to_markdown
from podrace.reports.formats.mermaid import MOST_LETTERS, to_mermaid
from tests.reports.findings import findings
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, AT_ONCE, HOLDS, INCONCLUSIVE, NO_WAY_BACK, STARVED, VIOLATED

STYLE = Style()
LINE = re.compile(
    r" +(participant [am]\d+ as [^\n]*|[am]\d+->>[am]\d+: [^\n]*|Note over [am]\d+: [^\n]*|loop [^\n]*|end)"
)


def test_diagrams_of_every_kind() -> None:
    assert_golden("all.mmd", to_mermaid(ALL, STYLE))


def test_nothing_to_draw_is_an_empty_diagram_source() -> None:
    assert to_mermaid([HOLDS, INCONCLUSIVE]) == "%% no counterexample\n"


def test_what_repeats_is_a_loop() -> None:
    lines = [line.strip() for line in to_mermaid([STARVED], STYLE).splitlines()]
    assert lines.index("loop indefinitely:") < lines.index("end") == len(lines) - 1
    trapped = to_mermaid([NO_WAY_BACK], STYLE)
    assert "Note over a0: from here there is no way out#59; for example, it goes on like this:\n" in trapped
    assert "loop and these steps repeat indefinitely:\n" in trapped
    rests = to_mermaid([msgspec.structs.replace(STARVED, cycle=())], STYLE)
    assert rests.endswith("Note over a0: here it stays indefinitely\n")


def test_letters_that_mermaid_reads_are_written_as_codes() -> None:
    step = ShownStep(1, "a;b#c", "x", "go", {"pod": "<p>"}, "", (ShownChange("y.z", 1, "{2}\n3"),))
    drawn = to_mermaid([msgspec.structs.replace(VIOLATED, trace=(step,))])
    assert "participant a0 as a#59;b#35;c\n" in drawn
    assert "a0->>m0: 1. go(#60;p#62;)<br/>y.z: 1 -#62; #123;2#125; 3\n" in drawn


@given(findings())
def test_every_line_is_of_a_known_kind(finding: Finding) -> None:
    drawn = to_mermaid([msgspec.structs.replace(finding, scenario="s", release="1", property="P")])
    if finding.trace is None:
        return
    head, kind, *lines = drawn.split("\n")[:-1]
    assert head.startswith("%% ")
    assert kind == "sequenceDiagram"
    assert [line for line in lines if LINE.fullmatch(line) is None] == []
    participants = {line.split()[1] for line in lines if line.strip().startswith("participant")}
    used = {name for line in lines for name in re.findall(r"^ +([am]\d+)->>|^ +Note over ([am]\d+):", line)}
    assert {a or b for a, b in used} <= participants
    assert sum(line.strip() == "end" for line in lines) == sum("loop " in line[:20] for line in lines) <= 1


def test_markdown_of_every_verdict() -> None:
    assert_golden("all.md", to_markdown([msgspec.structs.replace(f, seconds=None) for f in ALL], STYLE))


def test_a_diagram_that_mermaid_would_not_draw_is_left_out() -> None:
    long = msgspec.structs.replace(
        VIOLATED, trace=tuple(msgspec.structs.replace(VIOLATED.story[0], number=n) for n in range(1, 2000))
    )
    text = to_markdown([long], STYLE)
    assert "The sequence diagram of 1999 steps is more than Mermaid draws." in text
    assert "```mermaid" not in text
    assert len(to_mermaid([long], STYLE)) > MOST_LETTERS


def test_cells_and_words_cannot_break_the_table() -> None:
    odd = msgspec.structs.replace(INCONCLUSIVE, scenario="a|b\n<script>", words="*x* `y`")
    text = to_markdown([odd])
    assert "| ⚠️ | a\\|b \\<script\\> |" in text
    assert "\\*x\\* \\`y\\`" in text


@given(st.lists(findings(), max_size=3))
def test_the_table_has_a_row_for_each_finding(found: list[Finding]) -> None:
    rows = [line for line in to_markdown(found).split("\n## ")[0].split("\n") if line.startswith("| ")]
    assert len(rows) == 2 + len(found)
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_steps_cannot_end_the_block_that_they_stand_in() -> None:
    step = msgspec.structs.replace(VIOLATED.story[0], told="```\n# loud")
    text = to_markdown([msgspec.structs.replace(VIOLATED, trace=(step,))])
    assert "\n````text\n1. ```\n# loud\n````\n" in text


def test_the_initial_state_can_be_the_violation() -> None:
    assert "violated in the initial state" in to_markdown([AT_ONCE])
