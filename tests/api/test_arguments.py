"""Wrong values are refused by the Python API in one line, which names the argument and says what to write."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from podrace import api
from podrace.api.arguments import Takes
from podrace.cli import pytest_plugin
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import lines
from tests.cli.helpers import TINY

THREADS = "is no number of threads: write a whole number from 1 to 256"
STATES = 'is no number of states: write for example 5_000_000 or "5M"'
MEMORY = 'is no amount of memory: write bytes, for example 1 << 32, or "4G"'
DURATION = 'is no duration: write seconds, for example 60, or "5m"'
NAME = "is no text: write a name in quotes, or a list of such names"
PROPERTY = 'is no property: write an identifier such as "S-CAP", a class of your own, or a list of these'
STEPS = "is no number of steps: write a whole number, such as 15"
CLOSING = 'is no duration: write seconds, for example 20, or "1m", or 0'
SKEW = 'is no duration: write seconds, for example 0.05, or "50ms", or 0'
CACHE = "is no directory for verdicts: write the path of one, or False to keep none"
TRUTH = "is no truth value: write True or False"
TIME = 'is no time: write for example "2026-02-01T10:00:00Z"'


class Unprintable:
    def __repr__(self) -> str:
        raise OSError


class Hostile:
    def __repr__(self) -> str:
        return "a\n::error::b\x1b[0m" + "x" * 1000


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(api.UsageProblem) as problem:
        call()
    told = str(problem.value)
    assert told.isprintable()
    return told


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("jobs", 0, f"`0` {THREADS}"),
        ("jobs", -3, f"`-3` {THREADS}"),
        ("jobs", 257, f"`257` {THREADS}"),
        ("jobs", 1.5, f"`1.5` {THREADS}"),
        ("jobs", "0", f"`'0'` {THREADS}"),
        ("jobs", True, f"`True` {THREADS}"),
        ("max_states", 0, f"`0` {STATES}"),
        ("max_states", -1, f"`-1` {STATES}"),
        ("max_states", 100.5, f"`100.5` {STATES}"),
        ("max_states", "many", f"`'many'` {STATES}"),
        ("max_memory", 0, f"`0` {MEMORY}"),
        ("max_memory", "4X", f"`'4X'` {MEMORY}"),
        ("timeout", -1, f"`-1` {DURATION}"),
        ("timeout", 0, f"`0` {DURATION}"),
        ("timeout", math.nan, f"`nan` {DURATION}"),
        ("timeout", math.inf, f"`inf` {DURATION}"),
        ("timeout", 1e305, f"`1e+305` {DURATION}"),
        ("timeout", Decimal(1), f"`Decimal('1')` {DURATION}"),
        ("timeout", "soon", f"`'soon'` {DURATION}"),
        ("release", 1.13, '`1.13` is no text: write a release in quotes, such as "1.13"'),
        ("with_fix", 72259, f"`72259` {NAME}"),
        ("with_fix", None, f"`None` {NAME}"),
        ("with_fix", b"72259", f"`b'72259'` {NAME}"),
        ("with_fix", ("72259", 77990), f"`77990` {NAME}"),
        ("without_fix", [["72259"]], f"`['72259']` {NAME}"),
        ("gate", 5, f"`5` {NAME}"),
        ("property", 5, f"`5` {PROPERTY}"),
        ("property", int, f"`<class 'int'>` {PROPERTY}"),
        ("property", [None], f"`None` {PROPERTY}"),
        ("cache", None, f"`None` {CACHE}"),
        ("cache", 1, f"`1` {CACHE}"),
        ("jobs", Unprintable(), f"`Unprintable` {THREADS}"),
        ("jobs", Hostile(), f"`a\N{REPLACEMENT CHARACTER}::error::b\N{REPLACEMENT CHARACTER}[0m{'x' * 41}...` {THREADS}"),
    ],
)  # fmt: skip
def test_check_and_expect(argument: str, value: Any, words: str) -> None:
    asked: Any = {argument: value}
    wanted = f"{argument}: {words}"
    assert refusal(lambda: api.check("72124", **asked)) == wanted
    assert refusal(lambda: api.expect("violated", "72124", **asked)) == wanted


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("closing", -1, f"`-1` {CLOSING}"),
        ("closing", math.nan, f"`nan` {CLOSING}"),
        ("closing", "x", f"`'x'` {CLOSING}"),
        ("engine", "fast", "`'fast'` is no engine: write native or reference"),
        ("engine", [], "`[]` is no engine: write native or reference"),
    ],
)
def test_what_only_check_takes(argument: str, value: Any, words: str) -> None:
    asked: Any = {argument: value}
    assert refusal(lambda: api.check("72124", **asked)) == f"{argument}: {words}"


@pytest.mark.parametrize(
    ("value", "words"), [("15", f"`'15'` {STEPS}"), (15.0, f"`15.0` {STEPS}"), (True, f"`True` {STEPS}"), (-1, f"`-1` {STEPS}")]
)  # fmt: skip
def test_steps(value: Any, words: str) -> None:
    assert refusal(lambda: api.expect("violated", "72124", steps=value)) == f"steps: {words}"


@pytest.mark.parametrize(
    ("argument", "value", "words"),
    [
        ("complete", "no", f"`'no'` {TRUTH}"),
        ("complete", 1, f"`1` {TRUTH}"),
        ("clock_skew", -1, f"`-1` {SKEW}"),
        ("clock_skew", "x", f"`'x'` {SKEW}"),
        ("clock_skew", None, f"`None` {SKEW}"),
        ("since", 5, f"`5` {TIME}"),
        ("until", 5, f"`5` {TIME}"),
        ("namespace", [], '`[]` is no text: write the name of one in quotes, such as "default"'),
        ("initial", ["x"], "`['x']` is no file: write the path of what `kubectl get nodes,pods -A -o json` printed"),
        ("property", 5, f"`5` {NAME}"),
    ],
)  # fmt: skip
def test_audit(argument: str, value: Any, words: str) -> None:
    asked: Any = {argument: value}
    wanted = f"{argument}: {words}"
    assert refusal(lambda: api.audit("x.log", **asked)) == wanted
    assert refusal(lambda: api.expect_kept("x.log", **asked)) == wanted


def test_what_has_no_name() -> None:
    wrong: Any = None
    assert refusal(lambda: api.check(wrong)) == (
        'scenarios: `None` is no scenario: write what `podrace races` lists, such as "72124", or the path of a YAML file'
    )
    assert refusal(lambda: api.audit("x.log", wrong)) == (
        "logs: `None` is no file: write the path of an audit log"
    )
    wrong = "yes"
    assert refusal(lambda: api.expect_kept("x.log", excluded=wrong)) == f"excluded: `'yes'` {TRUTH}"
    wrong = []
    assert refusal(lambda: api.expect(wrong, "72124")) == (
        "verdict: `[]` is no verdict to expect: write holds or violated"
    )


def test_a_word_that_there_is_not_is_a_mistake_in_the_program() -> None:
    wrong: Any = {"relase": "1.13"}
    with pytest.raises(TypeError, match=r"^check\(\): got an unexpected keyword argument 'relase'$"):
        api.check("72124", **wrong)


def test_numbers_may_be_texts_as_the_command_takes_them(tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    (found,) = api.check(file, max_states="5k", max_memory="4G", timeout="5m", jobs="1", closing="0")
    assert found.verdict == "HOLDS"
    (found,) = api.check(file, max_states=5000, max_memory=4 << 30, timeout=300, jobs=1, closing=0)
    assert found.verdict == "HOLDS"
    (stopped,) = api.check(file, property="S-UNIQ", max_states="1", cache=False)
    assert stopped.verdict == "INCONCLUSIVE"
    (found,) = api.expect("holds", file, with_fix=(key for key in ("77990",)), timeout=1e-3 + 60)
    assert found.verdict == "HOLDS"


def test_a_skew_may_be_a_text(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(lines([seen("n", 0), *both("a", 1)]))
    assert api.audit(log, clock_skew="50ms") == api.audit(log, clock_skew=0.05) == api.audit(log)


@pytest.mark.parametrize("function", [api.check, api.expect, api.audit, api.expect_kept])
def test_every_argument_says_what_it_takes(function: Any) -> None:
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    names = set(inspect.signature(function).parameters) - {"options"}
    assert {
        name for name in names if any(isinstance(m, Takes) for m in getattr(hints[name], "__metadata__", ()))
    } == names


def test_the_fixture_knows_the_same_arguments() -> None:
    def named(function: Any) -> set[str]:
        parameters = inspect.signature(function).parameters.values()
        return {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}

    assert set(pytest_plugin.KEYWORDS) == named(api.expect)
    assert set(pytest_plugin.OF_LOGS) == named(api.audit)
