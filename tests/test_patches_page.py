"""The guide to patches: its commands work, with the patch that it shows, and print what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.helpers import Ran, Shell

PAGE = (Path(__file__).parents[1] / "docs" / "patches.md").read_text(encoding="utf-8")


def block(mark: str) -> list[str]:
    """The lines of the indented block below a mark."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n\n((?: {{4}}.*\n)+)", PAGE)
    assert found is not None
    return [line[4:] for line in found[1].splitlines()]


def run(shell: Shell, command: str) -> Ran:
    program, *arguments = shlex.split(command)
    assert program == "podrace"
    return shell(*arguments)


def test_the_guide(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)
    listing, begun = (run(shell, command) for command in block("tested: begin"))
    assert (listing.code, begun.code) == (0, 0)
    assert "    update(pod, old_field, new_field)  " in listing.out
    scaffolded = Path("keep_nomination.py").read_text(encoding="utf-8")
    found = re.search(r"<!-- file: (\S+) -->\n```python\n(.*?)```", PAGE, re.S)
    assert found is not None
    for line in (
        "class KeepNomination(Before77990):",
        "    def update(self, pod: Pod, old_field: Value, new_field: Value)",
    ):
        assert line in scaffolded
        assert line in found[2]
    unchanged = run(shell, block("tested: verify")[1])
    assert unchanged.code == 2
    assert "KeepNomination changes nothing on 1.14 + 90660" in unchanged.err
    Path(found[1]).write_text(found[2], encoding="utf-8")
    ran = [run(shell, command) for command in block("tested: verify")]
    assert [r.code for r in ran] == [
        0,
        0,
    ]  # q is bound only by the violation: to make that impossible is no loss
    rest = " ".join("".join(r.out for r in ran).split())
    for line in block("printed: verify"):
        _, seen, rest = rest.partition(" ".join(line.split()))
        assert seen, f"`{line}` is not printed there"
