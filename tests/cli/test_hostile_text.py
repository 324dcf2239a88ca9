"""Words of files that others wrote, on the consoles: they are read, and command neither a terminal nor a CI service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.helpers import TINY, Shell
from tests.reports.test_filtered import commands_in, unseen_in

KIND = """\
apiVersion: example.com/v1
kind: "Evil\\n::error file=x::owned\\r\\x1b]0;x\\a\\x1b[31m##[group]"
metadata: {name: x}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p1, namespace: default}
spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}
"""
TITLE = "::error file=x::owned ##[group] @everyone"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("objects.yaml").write_text(KIND)
    Path("titled.yaml").write_text(TINY.replace("One pod, one node", f'"{TITLE}"'))


@pytest.mark.parametrize("form", ["text", "github", "markdown", "json"])
def test_a_kind_is_no_command(shell: Shell, form: str) -> None:
    ran = shell("check", "-f", "objects.yaml", "--property", "S-CONS", "-o", form)
    assert ran.code == 0
    own = [
        line
        for line in commands_in(ran.out)
        if not line.startswith("::notice title=What was kept of the cluster")
    ]
    assert (unseen_in(ran.out), own) == (set(), [])
    assert (unseen_in(ran.err), commands_in(ran.err)) == (set(), [])
    assert not any(re.search(r"##[A-Za-z]*\[", line) for line in ran.out.splitlines())
    assert len(commands_in(ran.out)) == (form == "github")
    odd = "\N{REPLACEMENT CHARACTER}"
    assert ran.err.splitlines(keepends=True)[0] == (
        f"note: objects of kind Evil{odd}::error file=x::owned{odd}{odd}]0;x{odd}{odd}[31m## [group] say nothing to the "
        "scheduler's model: left out (objects.yaml)\n"
    )


def test_a_kind_is_no_line_of_the_scenario_that_is_written(shell: Shell) -> None:
    Path("evil.yaml").write_text(KIND.replace("::error file=x::owned", "name: other"))
    assert shell("check", "-f", "evil.yaml", "--property", "S-CAP", "--write-scenario", "w.yaml").code == 0
    assert unseen_in(Path("w.yaml").read_text()) == set()
    assert "\nname: other" not in Path("w.yaml").read_text()


@pytest.mark.parametrize("form", ["text", "markdown", "junit", "html", "mermaid", "sarif", "json"])
def test_a_title_is_no_command(shell: Shell, form: str) -> None:
    """It is one line of letters that can be printed, and a line of the output begins with it."""
    ran = shell("check", "titled.yaml", "-o", form)
    assert (ran.code, commands_in(ran.out)) == (0, [])


def test_a_complaint_is_one_line_and_no_command(shell: Shell) -> None:
    ran = shell("check", "x\n::error::owned\x1b[31m##[group]")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert (unseen_in(ran.err), commands_in(ran.err)) == (set(), [])
    ran = shell("check", "titled.yaml", "--no-such-option\x1b[31m")
    assert (ran.code, unseen_in(ran.err)) == (2, set())


def test_settings_of_a_checkout_are_no_commands(shell: Shell) -> None:
    Path(".podrace.yaml").write_text('check: {release: "1.19.0", report: "a\\n::error::owned"}\n')
    ran = shell("check", "tiny.yaml")
    assert (unseen_in(ran.out + ran.err), commands_in(ran.out + ran.err)) == (set(), [])
