"""What docs/reports.md says of forms, files and fields is complete, and its commands do what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import yaml

from podrace.analysis.stored.report_directory import DRAWINGS, FILES, FOLDER
from podrace.reports.ci_outcome import Style
from podrace.reports.formats.forms import FORMS
from podrace.reports.stored import StoredScenario, StoredTrace
from tests.reports.samples import HOLDS, INCONCLUSIVE, VIOLATED

PAGE = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")


def column(heading: str) -> list[str]:
    """The names in the first column of the table below a heading row."""
    table = PAGE.split(f"{heading}\n", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in table.splitlines()[1:]]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def commands() -> list[tuple[list[str], int]]:
    """The tested commands in their order, with their exit codes."""
    blocks = re.findall(r"<!-- tested -->\n\n((?: {4}.*\n)+)", PAGE)
    lines = [line for block in blocks for line in block.splitlines()]
    parsed = [re.fullmatch(r" {4}(\S.*?) +# exit code (\d)", line) for line in lines]
    return [(match[1].split(), int(match[2])) for match in parsed if match is not None]


def test_every_form_is_explained() -> None:
    assert column("| Form | Content |") == ["text", *FORMS]


def test_every_file_of_a_report_is_named() -> None:
    endings = (".trace.json", *DRAWINGS)
    assert column("| File | Content |") == [*FILES, *(f"{FOLDER}/*{ending}" for ending in endings)]


def test_every_field_of_a_trace_is_explained() -> None:
    named = column("| Field | Content |")
    assert sorted(named) == sorted(field.name for field in msgspec.structs.fields(StoredTrace))
    row = next(line for line in PAGE.splitlines() if line.startswith("| `scenario` |"))
    assert all(f"`{field.name}`" in row for field in msgspec.structs.fields(StoredScenario))


def test_the_verdicts_count_as_the_table_says() -> None:
    violated = msgspec.structs.replace(VIOLATED, expected=None)
    for finding, words in ((HOLDS, "passed"), (violated, "failed"), (INCONCLUSIVE, "undecided")):
        assert Style().outcome(finding) == words
    assert column("| Verdict | Exit code | JUnit | SARIF | GitHub |") == []
    rows = dict(re.findall(r"^\| (HOLDS|VIOLATED|INCONCLUSIVE) \| (\d) \|", PAGE, re.MULTILINE))
    assert rows == {"HOLDS": "0", "VIOLATED": "1", "INCONCLUSIVE": "3"}


@pytest.mark.ci
def test_the_commands_end_as_the_page_says(tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    assert len(commands()) == 3
    printed = {}
    for words, code in commands():
        ran = subprocess.run(
            [str(scripts / words[0]), *words[1:]],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
        printed[words[1]] = ran.stdout
    shown = PAGE.split("<!-- output of explain -->\n```mermaid\n", 1)[1].split("```", 1)[0]
    assert printed["explain"] == shown
    written = {str(path.relative_to(tmp_path / "report")) for path in (tmp_path / "report").rglob("*.*")}
    patterns = [
        name.replace("*", "nominated-node-race_1.13.0_S-NOMVIS") for name in column("| File | Content |")
    ]
    assert written == {pattern for pattern in patterns if not pattern.endswith(".lasso.svg")}


def test_the_workflow_is_one() -> None:
    workflow = yaml.safe_load(PAGE.split("```yaml\n", 1)[1].split("```", 1)[0])
    (given,) = [step["with"] for step in workflow["jobs"]["podrace"]["steps"] if "with" in step]
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
    assert set(given) <= set(action["inputs"])
    assert given["command"] in ("check", "test")
