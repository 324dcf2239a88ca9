"""The command of docs/audit.md prints what the page says."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.audit.test_bindings_and_waits import lease
from tests.audit.written_logs import bound, created, event, lines, node, running
from tests.pages.pages import DOCS, assert_printed, run_commands

PAGE = (DOCS / "audit.md").read_text(encoding="utf-8")
BLOCK = r"((?: {4}.*\n)+)"

# One scheduler goes on after another one has taken the lease: the second tries the same pod again.
HAND_OVER = [
    event("create", "nodes", "n1", 1, code=201, response=node("n1")),
    created("a", 2),
    created("b", 3),
    created("c", 4, "500m"),
    bound("a", "n1", 5),
    bound("b", "n1", 7),
    lease(8.5, "m1_x", "10.0.0.2", 3),
    lease(8.6, "m2_y", "10.0.0.3", 4),
    bound("c", "n1", 9, address="10.0.0.2"),
    running("c", "n1", 10, "500m"),
    running("a", "n1", 11, version=200),
    running("b", "n1", 11.5, version=201),
    event("patch", "nodes/status", "n1", 12, response=node("n1", version=300)),
    lease(13, "m2_y", "10.0.0.3", 4),
    bound("c", "n1", 14, code=409, address="10.0.0.3"),
]


def test_the_command_prints_what_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text(lines(HAND_OVER))
    (command,) = re.findall(rf"<!-- tested: overfull, exit code 1 -->\n\n{BLOCK}", PAGE)
    said = run_commands(textwrap.dedent(command), tmp_path, 1)
    printed = re.findall(rf"<!-- printed: overfull -->\n\n{BLOCK}", PAGE)
    assert len(printed) == 3
    for part in printed:
        assert_printed(part, said)
