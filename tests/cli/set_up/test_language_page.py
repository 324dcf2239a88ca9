"""The page of the language: its system gives what the page says, and what it lists exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from podrace.model import language
from tests.cli.helpers import Shell

PAGE = (Path(__file__).parents[3] / "docs" / "language.md").read_text(encoding="utf-8")


@pytest.fixture
def forks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Table(System)" in c)
    file = tmp_path / "forks.py"
    file.write_text(code)
    monkeypatch.chdir(tmp_path)
    return file


def test_the_command_prints_what_the_page_says(shell: Shell, forks: Path) -> None:
    block = re.search(r"    \$ podrace (.*?)\n((?:    .*\n|\n)+)", PAGE)
    assert block is not None
    ran = shell(*shlex.split(block[1]))
    assert (ran.code, ran.err) == (1, "")
    assert (
        ran.out
        == "".join(line.removeprefix("    ") for line in block[2].splitlines(keepends=True)).rstrip("\n")
        + "\n"
    )


def test_from_python(forks: Path) -> None:
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "for result in check" in c)
    found: list[tuple[object, ...]] = []
    names: dict[str, object] = {"__name__": "forks", "print": lambda *line: found.append(line)}
    exec(compile(forks.read_text(), str(forks), "exec", dont_inherit=True), names)
    exec(compile(code, "page", "exec", dont_inherit=True), names)
    assert [line[:2] for line in found] == [
        ("neighbours_do_not_eat", "HOLDS"),
        *((f"eats_again(who=philosopher{i})", "VIOLATED") for i in range(1, 5)),
    ]


def test_what_the_page_names_is_there() -> None:
    called = set(re.findall(r"`@?([a-z_]+)\(", PAGE)) | set(re.findall(r"`@([a-z_]+)`", PAGE))
    assert {name for name in called if not hasattr(language, name)} == {"eats_again", "setup", "sum"}
