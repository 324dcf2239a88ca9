"""What the README shows is what its commands tell and draw, and it stays short."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from podrace.api import check
from podrace.reports.text.explanation import explain

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = "docs/race-72124.svg"


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_the_race_is_told_as_podrace_tells_it() -> None:
    """Line by line, in this order; steps may be left out, words not."""
    command, told = re.findall(r"<!-- told by: podrace (.*) -->\n```\n(.*?)```", README, re.S)[0]
    assert command == "check 72124"
    (finding,) = check("72124", cache=False)
    printed = iter(explain(finding).text.splitlines())
    shown = [" ".join(part.split()) for part in re.split(r"\n(?! )", told) if part.strip()]
    for line in shown:
        assert any(line in text for text in printed), line


def test_what_wipes_the_nomination_is_what_the_command_prints() -> None:
    assert "podrace check 72124 --with-fix 72259 --property S-NOM " in README
    said = "The queue's handler receives an older update of the pod after the nomination, and this update wipes the nomination"
    assert said in " ".join(README.split())
    (finding,) = check("72124", with_fix=["72259"], property=["S-NOM"], cache=False)
    wiped = [
        s for s in finding.story if any(c.phrase == "nominator: p is no longer nominated" for c in s.changes)
    ]
    assert [(s.actor, s.step) for s in wiped] == [("queue handler", "update_queue")]


def test_the_picture_is_the_drawn_one(tmp_path: Path) -> None:
    assert f"]({PICTURE})" in README
    program = Path(sys.executable).with_name("podrace")
    command = shlex.split("check 72124 --no-cache --closing 1m --graph race.svg")
    done = subprocess.run([program, *command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert (tmp_path / "race.svg").read_bytes() == (ROOT / PICTURE).read_bytes()
