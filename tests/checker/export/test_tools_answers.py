"""How SPIN and TLC are called, and what is read of their output: without either of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from podrace.model.language import BOOL, INT, TransitionSystem, Universe, Variable
from tests.checker.machines import counters
from tests.tools import spin
from tests.tools.spin import ToolFailure, compiled_for
from tests.tools.tlc import TlcAnswer, parse, run_tlc

REACHED_THE_END = """\
1339 states generated, 913 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 32.
"""
A_VIOLATION = """\
Error: Invariant S_ERR is violated.
State 1: <Initial predicate>
State 2: <fill line 9>
State 3: <drop line 12>
41 states generated, 30 distinct states found, 7 states left on queue.
"""


def test_the_end_that_tlc_reached_is_read() -> None:
    assert parse(REACHED_THE_END) == TlcAnswer(True, 913, 31, violated=frozenset(), transitions=1338)


def test_a_run_has_one_step_less_than_states() -> None:
    assert parse(A_VIOLATION) == TlcAnswer(False, 30, 0, frozenset({"S_ERR"}), run=2)


@pytest.mark.parametrize(
    "output",
    [
        "",
        REACHED_THE_END.replace("0 states left", "5 states left"),
        REACHED_THE_END.replace("depth", "height"),
        A_VIOLATION.replace("S_ERR", "Type"),
    ],
)
def test_tlc_that_stopped_without_an_answer_failed(output: str) -> None:
    with pytest.raises(ToolFailure, match="TLC did not search everything"):
        parse(output)


@pytest.mark.parametrize("go_on", [False, True])
def test_tlc_is_called_with_one_worker_and_goes_on_where_told(
    go_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[tuple[list[str], dict[str, Any]]] = []

    def run(command: list[str], **options: Any) -> CompletedProcess[str]:
        called.append((command, options))
        return CompletedProcess(command, 12, A_VIOLATION, "")  # TLC's exit code after a violation

    monkeypatch.setattr(subprocess, "run", run)
    assert run_tlc(counters(1), tmp_path, Path("tla.jar"), go_on=go_on).run == 2
    ((command, options),) = called
    assert command == [
        "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", f"-Djava.io.tmpdir={tmp_path}", "-cp", "tla.jar",
        "tlc2.TLC", *(["-continue"] if go_on else []), "-workers", "1", "-config", "model.cfg", "model.tla",
    ]  # fmt: skip
    assert (options["cwd"], options["check"], options["capture_output"]) == (tmp_path, False, True)
    assert (tmp_path / "model.cfg").read_text().endswith("INVARIANT Type\n")


@pytest.mark.parametrize(("states", "bits", "most"), [(1, 10, 1001), (100_000, 18, 151_000), (2**40, 30, 2**39 * 3 + 1000)])  # fmt: skip
@pytest.mark.parametrize("to_first_error", [False, True])
def test_spin_gets_room_for_the_states_to_expect(
    states: int, bits: int, most: int, to_first_error: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def run(command: list[str], folder: Path) -> str:
        called.append(command)
        return "errors: 0\n 5 states, stored\n 7 states, matched\n"

    monkeypatch.setattr(spin, "_run", run)
    found = spin.search(tmp_path, states=states, to_first_error=to_first_error)
    assert (found.states, found.transitions, found.errors) == (5, 11, 0)
    go_on = [] if to_first_error else ["-c0"]
    assert called == [["./pan", *go_on, "-E", "-b", f"-w{bits}", f"-m{most}"]]


def test_states_that_are_too_long_for_spin_get_a_longer_vector() -> None:
    def system(*variables: Variable) -> TransitionSystem:
        return TransitionSystem("wide", Universe({}), variables, ())

    def ints(count: int) -> list[Variable]:
        return [Variable(f"v{i}", INT, -(2**20), 0, 0) for i in range(count)]

    flags = [Variable(f"b{i}", BOOL, 0, 1, 0) for i in range(8)]
    assert compiled_for(system(*ints(112))) == ["-DSAFETY", "-DNOREDUCE"]  # 64 + 112 * 4 = 512 bytes
    assert compiled_for(system(*ints(113))) == ["-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=1032"]
    assert compiled_for(system(*ints(112), *flags), reduction=True) == ["-DSAFETY", "-DVECTORSZ=1040"]
