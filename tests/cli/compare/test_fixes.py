"""`podrace fixes`, and what `-o` means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.main import get_command

from podrace.cli.commands import all_commands
from podrace.cli.configuration.command_groups import MODULES
from podrace.model.history import CHANGES
from tests.cli.helpers import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return Shell(capsys)


def test_every_change_has_its_sentence_its_releases_and_its_races(shell: Shell) -> None:
    ran = shell("fixes")
    assert (ran.code, ran.err) == (0, "")
    headings = [line.split()[0] for line in ran.out.splitlines() if not line.startswith(" ")]
    assert sorted(headings) == sorted(CHANGES)
    assert (
        "72259  a nomination is in the scheduler's memory before it is written to the API server\n"
        "    in 1.14 and later; backported to 1.12.5, 1.13.2; closes nominated-node-race\n"
    ) in ran.out


def test_one_change_is_explained(shell: Shell) -> None:
    assert shell("fixes", "kubernetes/kubernetes#133167").out == (
        "133167  a preemptor whose victims were all gone is activated\n"
        "    in 1.34, until 1.34.2 reverted it; closes gone-victim\n"
        "    Before it: The goroutine did not mind whether anybody was left to be evicted.\n"
        "    see kubernetes/kubernetes#133167, kubernetes/kubernetes#141694\n"
    )
    assert (
        "behind the feature gate SchedulerAsyncPreemption: see `podrace gates`"
        in shell("fixes", "async-preemption").out
    )


def test_changes_for_programs(shell: Shell) -> None:
    (row,) = json.loads(shell("fixes", "90660", "-o", "json").out)
    assert (row["key"], row["first_in"]) == ("90660", "1.19")
    assert (row["races"], row["with_others"]) == ([], ["nominated-node-race"])
    assert set(row) == {
        "key",
        "title",
        "first_in",
        "where",
        "before",
        "gate",
        "issues",
        "races",
        "with_others",
    }


def test_a_change_that_closes_nothing_by_itself_is_not_said_to(shell: Shell) -> None:
    assert ("    in 1.19 and later; with others closes what is left of nominated-node-race\n") in shell(
        "fixes", "90660"
    ).out


def test_an_unknown_change(shell: Shell) -> None:
    ran = shell("fixes", "1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("podrace: unknown fix `1`; the nearest: ")


def test_where_a_change_is() -> None:
    words = {key: change.where for key, change in CHANGES.items()}
    assert words["72259"] == "in 1.14 and later; backported to 1.12.5, 1.13.2"
    assert words["133167"] == "in 1.34, until 1.34.2 reverted it"
    assert "in no release yet" in words.values()
    assert any("; backported to " in text for text in words.values())


def test_the_short_option_names_a_form_in_every_help() -> None:
    for name, command in get_command(all_commands()).commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            if "-o" in parameter.opts and not parameter.hidden:
                assert parameter.opts == ["-o", "--output"], name
                assert parameter.help.startswith("Form of the result on stdout."), name


def test_the_help_is_grouped_and_ends_on_examples(shell: Shell) -> None:
    told = shell("--help").out
    headings = [
        line for line in told.splitlines() if line and not line.startswith(" ") and line.endswith(":")
    ]
    assert headings == [
        "Options:",
        "Begin here:",
        "I change the scheduler:",
        "I run schedulers:",
        "I want to know how podrace knows:",
        "More, each with its own --help:",
    ]
    assert "..." not in told.partition("Begin here:")[2]
    assert all(name in told for name in MODULES)
    assert "  Examples:\n    podrace check 72124  " in told
    first = {"explain": "check"}
    for command in (
        "check",
        "prove",
        "verify",
        "explain",
        "fixes",
        "reproduce",
        "test",
    ):
        shown = first.get(command, command)
        assert f"  Examples:\n    podrace {shown}" in shell(command, "--help").out, command
