"""What is under way when the time of a judgement is up is cut off, and nothing is concluded from it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.method import NOBODY
from podrace.reproduce.changes.judge import InTime
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.running import BINARY, Built, OutOfTime, run_test


@pytest.fixture
def slow(tmp_path: Path) -> Built:
    """A program that runs for half a minute."""
    program = tmp_path / BINARY
    program.write_text("#!/bin/sh\nexec sleep 30\n", encoding="utf-8")
    program.chmod(0o755)
    return Built(parse_version("v1.36.3"), tmp_path, {})


@pytest.mark.parametrize("seconds", [-1.0, 0.3])
def test_a_run_is_cut_off(slow: Built, seconds: float) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime):
        run_test(replace(slow, until=began + seconds), "TestX", {}, slow.folder, 20)
    assert time.monotonic() - began < 15


def test_without_such_a_moment_it_has_the_time_that_it_is_given(slow: Built) -> None:
    (slow.folder / BINARY).write_text("#!/bin/sh\nsleep 0.3; echo FAIL at last; exit 1\n", encoding="utf-8")
    assert run_test(slow, "TestX", {}, slow.folder, 20) == "FAIL at last"


def test_variables_that_a_binary_reads_are_its_own(slow: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """PODRACE_DAMAGED of somebody's shell would damage both sides of all runs."""
    monkeypatch.setenv("PODRACE_DAMAGED", "1")
    said = '#!/bin/sh\necho "FAIL [$PODRACE_DAMAGED] [$PODRACE_CASES]"; exit 1\n'
    (slow.folder / BINARY).write_text(said, encoding="utf-8")
    assert run_test(slow, "TestX", {"PODRACE_CASES": "c"}, slow.folder, 20) == "FAIL [] [c]"
    assert run_test(slow, "TestX", {"PODRACE_DAMAGED": 2}, slow.folder, 20) == "FAIL [2] []"


def test_no_search_begins_afterwards() -> None:
    InTime(NOBODY, time.monotonic() + 60).start("a search")
    with pytest.raises(OutOfTime):
        InTime(NOBODY, time.monotonic() - 1).start("a search")
