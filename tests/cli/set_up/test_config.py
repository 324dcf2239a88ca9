"""Configuration files: what they can set, where they are found, and that every mistake is one line with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from podrace.cli.commands import all_commands
from podrace.cli.configuration.command_options import CONFIG
from tests.cli.helpers import MINE, TINY, Shell, pretending

NOT_SETTABLE = {"help", CONFIG}


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    return Shell(capsys)


def typers_options() -> dict[str, set[str]]:
    """The options of each command, as the parser of command lines has them."""
    return {
        name: {
            max(parameter.opts, key=len).lstrip("-")
            for parameter in command.params
            if parameter.param_type_name == "option"
        }
        - NOT_SETTABLE
        for name, command in get_command(all_commands()).commands.items()  # type: ignore[attr-defined]
    }


def test_every_option_of_every_command_can_be_set() -> None:
    assert {name: set(options) for name, options in all_commands().options().items()} == typers_options()
    assert {"check", "prove", "explain"} <= set(all_commands().options())


def test_every_command_takes_a_file() -> None:
    for command in get_command(all_commands()).commands.values():  # type: ignore[attr-defined]
        assert ["-c", "--config"] in [parameter.opts for parameter in command.params]


def test_a_file_above_the_working_directory_sets_options(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".podrace.yaml").write_text(
        "check:\n  release: 1.10\n  with-fix: [72259]\n  max-states: 5M\n  engine: reference\n"
    )
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert shell("check", "../../tiny.yaml").err.startswith(
        "podrace: ../../.podrace.yaml:2: unknown release `1.10`; "
    )
    with pretending(monkeypatch) as pretence:
        assert shell("check", "../../tiny.yaml", "--release", "1.12.0").code == 0
        assert shell("check", "../../tiny.yaml", "--release", "1.12.0", "--with-fix", "77990").code == 0
    assert [run.composition.label for run in pretence.runs] == ["1.12.0 + 72259", "1.12.0 + 77990"]
    assert [budget.max_states for budget in pretence.budgets] == [5_000_000] * 2
    assert [m.engine for m in pretence.methods] == ["reference", "reference"]


def test_paths_are_relative_to_the_file(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "mine.py").write_text(MINE)
    (tmp_path / "settings" / "s.yaml").write_text("check: {properties: ['mine.py:NobodyAssumed']}")
    with pretending(monkeypatch) as pretence:
        assert shell("check", "tiny.yaml", "-c", "settings/s.yaml").code == 0
    assert [run.property for run in pretence.runs] == ["MY-NONE"]


def test_a_required_option_can_be_set(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / ".podrace.yaml").write_text("prove: {pods: 9, nodes: 1}")
    assert shell("prove").err == (
        "podrace: .podrace.yaml:1: --pods: `9` is no size: write a number from 1 to 6\n"
    )
    assert (
        shell("prove", "--pods", "8").err == "podrace: --pods: `8` is no size: write a number from 1 to 6\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chek: {}", ".podrace.yaml:1: unknown field `chek`; did you mean `check`? (known: defaults, "),
        ("check:\n  relase: 1", ".podrace.yaml:2: check.relase: unknown option `relase`; did you mean `release`? (known: "),
        ("check:\n  config: x", ".podrace.yaml:2: check.config: unknown option `config`; "),
        ("check: 5", ".podrace.yaml:1: check: expected a mapping from options to values, not `5`"),
        ("[]", ".podrace.yaml:1: expected a mapping from commands to their settings, not a list"),
        ("check:\n  timings: 1", ".podrace.yaml:2: check.timings: expected true or false, not `1`"),
        ("check:\n  release: true", ".podrace.yaml:2: check.release: expected a text for --release, not `true`"),
        ("check:\n  release: [1]", ".podrace.yaml:2: check.release: expected a text for --release, not a list"),
        ("check:\n  release:", ".podrace.yaml:2: check.release: nothing is set: give a value, or remove the line"),
        ("check:\n  with-fix: 72259", ".podrace.yaml:2: check.with-fix: expected a list for --with-fix, not `72259`"),
        (
            "check:\n  output: jsno",
            ".podrace.yaml:2: check.output: there is no such value of --output: `jsno`; did you mean `json`? (known: text, ",
        ),
        ("explore:\n  port: 65536", ".podrace.yaml:2: explore.port: expected a whole number from 0 to 65535, not `65536`"),
        ("check:\n  timeout: 1\n  timeout: 2", ".podrace.yaml:3: check: `timeout` was already given in line 2: "),
        (
            "defaults:\n  output: json",
            ".podrace.yaml:2: defaults.output: commands take different values for it: write it below the one that is meant (",
        ),
        ("defaults:\n  pots: 1", ".podrace.yaml:2: defaults.pots: unknown option `pots`; "),
        ("check: {\n", ".podrace.yaml:1: not a YAML that podrace reads: expected the node content, but found '<stream end>'"),
        ("a: &x 1\nb: *x", ".podrace.yaml:2: not a YAML that podrace reads: the alias *x is not allowed: write the value out"),
    ],
)  # fmt: skip
def test_mistakes_have_one_line(shell: Shell, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / ".podrace.yaml").write_text(text)
    ran = shell("check", "tiny.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {message}")
    assert ran.err.count("\n") == 1


def test_a_file_that_says_nothing_sets_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / ".podrace.yaml").write_text("")
    assert shell("version").code == 0


def test_a_file_that_is_not_there_is_named(shell: Shell) -> None:
    assert shell("version", "-c", "no.yaml").err == (
        "podrace: no.yaml: there is no such file: name one with settings for podrace\n"
    )
