"""The guide to patches: its commands work, with the patch that it shows, and print what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.helpers import Ran, Shell
from tests.pages.pages import DOCS, assert_printed, block

PAGE = (DOCS / "patches.md").read_text(encoding="utf-8")


def commands(mark: str) -> list[str]:
    """The commands of a block of the page."""
    return block("patches.md", f"tested: {mark}").splitlines()


def run(shell: Shell, command: str) -> Ran:
    program, *arguments = shlex.split(command)
    assert program == "podrace"
    return shell(*arguments)


@pytest.mark.ci
def test_the_guide(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)
    listing, begun = (run(shell, command) for command in commands("begin"))
    assert (listing.code, begun.code) == (0, 0)
    assert "    update(pod, old_field, new_field)  " in listing.out
    scaffolded = Path("keep_nomination.py").read_text(encoding="utf-8")
    found = re.search(r"<!-- file: (\S+) -->\n```python\n(.*?)```", PAGE, re.S)
    assert found is not None
    for line in (
        'class KeepNomination(before("77990")):',
        "    def update(self, pod: Pod, old_field: Value, new_field: Value)",
    ):
        assert line in scaffolded
        assert line in found[2]
    unchanged = run(shell, commands("verify")[1])
    assert unchanged.code == 2
    assert "KeepNomination changes nothing on 1.14.0 + 90660" in unchanged.err
    Path(found[1]).write_text(found[2], encoding="utf-8")
    ran = [run(shell, command) for command in commands("verify")]
    # q is bound only by the violation: to make that impossible is no loss.
    assert [r.code for r in ran] == [0, 0]
    assert_printed(block("patches.md", "printed: verify"), "".join(r.out for r in ran))
