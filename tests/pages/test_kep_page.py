"""The page for authors of KEPs: its files are as they are shown, its commands work, and they print what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.helpers import Shell
from tests.pages.pages import DOCS, assert_printed, block

PAGE = (DOCS / "kep.md").read_text(encoding="utf-8")


@pytest.mark.ci
def test_the_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = dict(re.findall(r"<!-- file: (\S+) -->\n```[a-z]+\n(.*?)```", PAGE, re.S))
    assert set(files) == {"kep_5229.py", "two-attempts.yaml"}
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    shell = Shell(capsys)
    for mark, code in (("check", 1), ("verify", 0)):
        (command,) = block("kep.md", f"tested: {mark}").splitlines()
        ran = shell(*shlex.split(command)[1:])
        assert ran.code == code
        assert_printed(block("kep.md", f"printed: {mark}"), ran.out)
