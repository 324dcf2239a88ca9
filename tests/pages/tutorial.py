"""Runs the tutorial's commands as they are printed: `python -m tests.pages.tutorial BIN` with the programs of a directory."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
_COMMAND = re.compile(r" {4}(podrace .*?) +# exit code (\d)")


_FILE = re.compile(r"<!-- file: (\S+) -->\n```[a-z]*\n(.*?)```\n", re.DOTALL)


_OUTPUT = re.compile(r"<!-- output -->\n```text\n(.*?)```\n", re.DOTALL)
LEFT_OUT = "..."


def files() -> dict[str, str]:
    """The files that the page shows, by name."""
    return dict(_FILE.findall(PAGE))


def commands() -> list[tuple[list[str], int]]:
    """The commands in their order, with their exit codes. ValueError for a line without one."""
    found = []
    for line in _OUTPUT.sub("", _FILE.sub("", PAGE)).splitlines():
        if line.startswith("    "):
            match = _COMMAND.fullmatch(line)
            if match is None:
                raise ValueError(f"no command with its exit code: {line}")
            found.append((shlex.split(match[1]), int(match[2])))
    return found


def outputs() -> dict[int, list[str]]:
    """What the page shows of the output of a command, by the command's number: its lines, without those that stand for others."""
    found: dict[int, list[str]] = {}
    command = -1
    marked = _OUTPUT.sub(lambda match: f"\0{match[1].rstrip()}\0\n", _FILE.sub("", PAGE))
    for number, part in enumerate(marked.split("\0")):
        if number % 2:
            found[command] = [line for line in part.splitlines() if line.strip() not in ("", LEFT_OUT)]
        else:
            command += sum(_COMMAND.fullmatch(line) is not None for line in part.splitlines())
    return found


def missing(shown: list[str], text: str) -> str | None:
    """The first line that is shown, and is not printed after those above it; however wide the terminal is."""
    rest = " ".join(text.split())
    for line in shown:
        words = " ".join(line.split())
        if words not in rest:
            return line
        rest = rest.partition(words)[2]
    return None


def run_tutorial(programs: Path, folder: Path) -> Iterator[tuple[str, int, int, str]]:
    """Each command with the exit code that is printed, the one that it ended with, and what it wrote.

    The files that the page shows are there from the start.
    """
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for (program, *arguments), wanted in commands():
        done = subprocess.run(
            [programs / program, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        yield " ".join([program, *arguments]), wanted, done.returncode, done.stdout + done.stderr


def main(programs: Path) -> int:
    """Run all; 1 if one ends otherwise than printed."""
    with tempfile.TemporaryDirectory() as folder:
        shown = outputs()
        for number, (command, wanted, code, text) in enumerate(
            run_tutorial(programs.absolute(), Path(folder))
        ):
            if (line := missing(shown.get(number, []), text)) is not None:
                print(f"FAIL {command}\ndoes not print `{line}`\n{text}")
                return 1
            print(f"{'ok  ' if code == wanted else 'FAIL'} {command}")
            if code != wanted:
                print(f"exit code {code}, not {wanted}\n{text}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
