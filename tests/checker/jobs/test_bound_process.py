"""Processes that end with who waits for them, and what they answer."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from podrace.checker.jobs.bound_process import answer_of

ENDLESS = """
import os, sys, threading
with open(sys.argv[1], "w") as file:
    file.write(str(os.getpid()))
threading.Event().wait()
"""

WAITING = """
import sys
from podrace.checker.jobs.bound_process import answer_of
answer_of(sys.argv[1], sys.argv[2:])
"""


def test_what_a_program_says_and_how_it_ends() -> None:
    program = "import sys; print(sys.argv[1]); print('no', file=sys.stderr); print(len(sys.stdin.read())); sys.exit(3)"
    assert answer_of(program, ["yes"]) == (3, "yes\n0\n", "no\n")
    assert answer_of("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", []).code == -signal.SIGKILL


def test_much_that_is_written_to_both_outputs() -> None:
    much = 1 << 20
    answer = answer_of(f"import sys; sys.stderr.write('e' * {much}); sys.stdout.write('o' * {much})", [])
    assert (len(answer.out), len(answer.err), answer.code) == (much, much, 0)


def test_a_process_ends_when_the_one_that_waits_for_it_is_killed(tmp_path: Path) -> None:
    place = tmp_path / "pid"
    os.mkfifo(place)
    waiting = subprocess.Popen([sys.executable, "-c", WAITING, ENDLESS, str(place)])
    bound = int(place.read_text())  # waits until it is written
    watched = os.pidfd_open(bound)
    try:
        waiting.kill()
        waiting.wait()
        ended, _, _ = select.select([watched], [], [], 60)
        assert ended == [watched]
    finally:
        os.close(watched)
