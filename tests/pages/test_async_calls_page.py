"""The page of the proposals about asynchronous calls: its files are as they are shown, and its command prints what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.helpers import Shell
from tests.pages.pages import DOCS, assert_printed, block

PAGE = (DOCS / "notebook/async-calls.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```[a-z]+\n(.*?)```", PAGE, re.S))


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the page's files, which is where the commands run."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.ci
def test_the_page(capsys: pytest.CaptureFixture[str], there: Path) -> None:
    (command,) = block("notebook/async-calls.md", "tested: check").splitlines()
    ran = Shell(capsys)(*shlex.split(command)[1:])
    assert ran.code == 1
    assert_printed(block("notebook/async-calls.md", "printed: check"), ran.out)


@pytest.mark.ci
def test_a_waiter_is_told_when_its_patch_is_merged(capsys: pytest.CaptureFixture[str], there: Path) -> None:
    patches = [f"--patch={name}" for name in ("requeue_after_patch.py", "queue_141645.py")]
    ran = Shell(capsys)(
        *("check", "two-preemptors.yaml", "--release", "1.36.0", "--gate", "SchedulerAsyncAPICalls=true"),
        *("--with-fix", "139450", "-P", "promises.py:BackWhenWritten", *patches),
    )
    assert ran.code == 1
    assert "withdrawal of the nomination of p" in ran.out
    assert "Violated after 27 steps, and no run is shorter (9,371 states" in ran.out
