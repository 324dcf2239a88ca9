"""The action for GitHub, run here step by step; the template for GitLab and the pre-commit hooks name what there is."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from typer.main import get_command

from podrace.cli.commands import all_commands
from podrace.cli.commands.set_up.init import starter_text
from podrace.cli.main import run
from tests.action import ROOT, Job, run_action
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import lines
from tests.cli.helpers import TINY
from tests.reports.standards import SARIF, assert_sarif


def ran(tmp_path: Path, **given: str) -> Job:
    folder, work = tmp_path / "runner", tmp_path / "work"
    for path in (folder, work):
        path.mkdir()
    (work / "tiny.yaml").write_text(TINY)
    (work / "starter.yaml").write_text(
        starter_text().replace("S-NOM: {verdict: violated, steps: 17}", "S-NOM: holds")
    )
    return run_action(folder, work, install=False, **given)


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory) -> Job:
    return ran(
        tmp_path_factory.mktemp("violated"),
        scenarios="starter.yaml tiny.yaml",
        options="--release 1.13.0 --property S-NOM",
        report="out",
    )


@pytest.mark.ci
def test_violations_fail_the_last_step_only(violated: Job) -> None:
    assert violated.outputs["run"] == {"exit-code": "1"}
    assert violated.failed == "verdict"


def test_annotations_name_the_file(violated: Job) -> None:
    errors = re.findall(r"^::error (.*?)::(.*)$", violated.printed["run"], re.M)
    ((properties, text),) = errors
    assert properties == "file=starter.yaml,line=21,title=starter%2C 1.13.0%3A S-NOM VIOLATED"
    assert text.endswith("%0A17. The scheduler assumes other on n1: in its cache the pod is there already.")


def test_the_summary_has_the_table_and_the_diagram(violated: Job) -> None:
    assert violated.summary.startswith("# podrace\n\n|  | scenario | release |")
    assert violated.summary.count("```mermaid\n") == 1


def test_sarif_is_uploaded(violated: Job) -> None:
    (used,) = (inputs for name, inputs in violated.used.items() if "upload-sarif" in name)
    log = json.loads((violated.folder.parent / "work" / used["sarif_file"]).read_text())
    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("S-NOM", "error")
    if SARIF.is_file():
        assert_sarif(json.dumps(log))


@pytest.mark.ci
def test_expected_verdicts(tmp_path: Path) -> None:
    job = ran(tmp_path, command="test", scenarios=".", sarif="false", cache="false")
    assert (job.outputs["run"], job.failed) == ({"exit-code": "1"}, "verdict")
    assert (
        "::error file=starter.yaml,line=35,title=starter%2C 1.13.0%3A S-NOM VIOLATED::" in job.printed["run"]
    )
    root = ElementTree.parse(tmp_path / "work" / "podrace-report" / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("4", "1")
    assert [name for name in job.used if "setup-python" not in name] == []


def test_what_holds_passes_and_is_kept_with_a_secret(tmp_path: Path) -> None:
    job = ran(tmp_path, scenarios="tiny.yaml", **{"cache-key": "a secret of this project"})
    assert (job.outputs["run"], job.failed) == ({"exit-code": "0"}, "")
    kept = Path(job.used["actions/cache@v4"]["path"])
    # The verdict, by the system, and the whole finding, by what was asked.
    assert len(list((kept / "verdicts").rglob("*.json"))) == 2


def test_without_a_secret_nothing_is_kept_between_runs(tmp_path: Path) -> None:
    job = ran(tmp_path, scenarios="tiny.yaml")
    assert (job.outputs["run"], job.failed) == ({"exit-code": "0"}, "")
    assert "actions/cache@v4" not in job.used
    assert not (tmp_path / "runner" / "podrace-cache" / "verdicts").exists()


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ({"scenarios": "no.yaml"}, "podrace: no.yaml: no such file"),
        ({"command": "sh"}, "::error::command: 'sh' is none of check, test and audit"),
        ({"scenarios": "$(touch${IFS}harm) ; touch harm"}, "podrace: unknown scenario `$(touch${IFS}harm)`"),
    ],
)
def test_wrong_usage_ends_the_step(tmp_path: Path, given: dict[str, str], printed: str) -> None:
    job = ran(tmp_path, **given)
    assert job.failed == "run"
    assert printed in job.printed["run"]
    assert not (tmp_path / "work" / "harm").exists()


def options_of(command: str) -> set[str]:
    found = get_command(all_commands()).commands[command]  # type: ignore[attr-defined]
    return {option for parameter in found.params for option in parameter.opts}


@pytest.mark.ci
def test_the_script_runs_the_action(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.action",
            "--without-install",
            f"scenarios={tmp_path / 'tiny.yaml'}",
            f"report={tmp_path / 'r'}",
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "podrace: 1 passed, 0 failed, 0 undecided\n" in done.stdout
    assert (tmp_path / "r" / "report.sarif").is_file()


def test_other_services_use_options_that_there_are() -> None:
    gitlab: Any = yaml.safe_load((ROOT / "ci" / "gitlab.yml").read_text())
    job = gitlab[".podrace"]
    (line,) = (line for line in job["script"] if line.startswith("podrace "))
    _, command, *words = shlex.split(line)
    assert {word for word in words if word.startswith("-")} <= options_of(command)
    assert job["artifacts"]["reports"]["junit"] == f"{words[words.index('--report') + 1]}/junit.xml"
    hooks: Any = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        program, command, *_ = hook["entry"].split()
        assert (program, command in get_command(all_commands()).commands) == ("podrace", True)  # type: ignore[attr-defined]
        assert {"id", "name", "language", "files"} <= set(hook)
        re.compile(hook["files"])
    assert all(
        re.search(hooks[0]["files"], name) for name in ("deploy/podrace-test.yaml", "cluster.yaml", "a/b.yml")
    )
    assert (hooks[0]["entry"], hooks[0]["pass_filenames"]) == ("podrace test .", False)


def test_the_hook_finds_what_init_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under any name, and beside YAML of others and the settings."""
    monkeypatch.chdir(tmp_path)
    assert run(["init", "cluster.yaml"]) == 0
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
    (tmp_path / ".podrace.yaml").write_text("test: {max-states: 10}\n")
    capsys.readouterr()
    assert run(["test", "."]) == 3
    assert "cluster.yaml" in capsys.readouterr().out


def test_audit_logs(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text(lines([seen("n", 0), *both("a", 1), *both("b", 2, "1500m")]))
    job = ran(tmp_path, command="audit", scenarios="../audit.log")
    assert (job.outputs["run"], job.failed) == ({"exit-code": "3"}, "verdict")
    assert "S-CAP POSSIBLE" in job.printed["run"]
    assert (tmp_path / "work" / "podrace-report" / "summary.md").is_file()
    assert not any("upload-sarif" in name for name in job.used)
