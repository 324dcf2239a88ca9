"""What a command imports before it answers: only what it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

from podrace.cli.commands import all_commands
from podrace.cli.configuration.command_groups import FOLDED, GROUPS, MODULES
from tests.cli.helpers import TINY

HEAVY = (
    "llvmlite",
    "msgspec",
    "numpy",
    "pydantic",
    "rich",
    "yaml",
    "z3",
    "podrace.model",
    "podrace.scenarios",
)


def imported(command: str, folder: Path, *looked_for: str) -> list[str]:
    """Which of these modules a process has imported after a command line."""
    code = (
        "import sys\n"
        "from podrace.cli.main import run\n"
        f"run({command.split()!r})\n"
        f"print('imported', *sorted(set({looked_for!r}) & set(sys.modules)))\n"
    )
    kept = {**os.environ, "PODRACE_CACHE": str(folder / "kept")}
    kept.pop("PODRACE_NO_CACHE", None)
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=kept, timeout=120
    )
    assert ran.stderr == ""
    return ran.stdout.splitlines()[-1].split()[1:]


def test_the_version_imports_nothing_of_the_checker(tmp_path: Path) -> None:
    assert imported("version", tmp_path, *HEAVY) == []


def test_a_kept_verdict_imports_no_engine(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    engines = (
        "llvmlite",
        "numpy",
        "pydantic",
        "z3",
        "podrace.checker.explicit.engine",
        "podrace.cli.commands.find.prove",
    )
    small = "podrace.checker.explicit.small_search"
    assert imported("check tiny.yaml --timeout 60s", tmp_path, small, *engines) == [small]
    assert imported("check tiny.yaml --timeout 60s", tmp_path, *engines) == []


def test_every_command_is_where_the_groups_say() -> None:
    assert list(all_commands().options()) == list(MODULES)
    assert sum(len(names) for names in (*GROUPS.values(), FOLDED)) == len(MODULES)
    for command in all_commands().registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        assert command.callback.__module__ == f"podrace.cli.commands.{MODULES[name]}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_help_speaks_of_types_of_python(name: str) -> None:
    command = get_command(all_commands()).commands[name]  # type: ignore[attr-defined]
    context = command.make_context(name, [], resilient_parsing=True)
    for word in ("list[", "<str>", "<path>", "<int", "<bool>", "None"):
        assert word not in command.get_help(context)
    assert import_module(f"podrace.cli.commands.{MODULES[name]}")
