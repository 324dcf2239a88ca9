"""A shipped patch judged on kube-scheduler's own code. Part of `make real`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.reproduce.modules.toolchain import has_go
from podrace.reproduce.patches import FOLDER
from tests.cli.helpers import Shell


@pytest.mark.real
def test_a_patch_closes_its_hazard(capsys: pytest.CaptureFixture[str]) -> None:
    if not has_go():
        pytest.skip("there is no Go")
    patch = FOLDER / "requeue-looks-again.patch"
    ran = Shell(capsys)("verify", str(patch), "--kubernetes", "v1.36.3", "--scenario", "ghost", "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (3, "CLOSES"), "it leaves the model, as every mend does"
    assert [(race["name"], race["outcome"]) for race in found["races"]] == [("ghost", "closes")]
    assert found["lines"]["executed"] > 0


@pytest.mark.real
@pytest.mark.parametrize(
    ("fix", "scenario", "name"),
    [("90660", "wiped-nomination", "S-NOM"), ("134157", "deleted-while-binding", "S-ROOM")],
)
def test_an_upstream_fix_taken_out_opens_its_race(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, fix: str, scenario: str, name: str
) -> None:
    """Of these two the goroutine that puts pods back is none of the base's, and the unchanged code mends the violation in the next calls."""
    if not has_go():
        pytest.skip("there is no Go")
    diff = str(Path(__file__).parent / "taken_out" / f"{fix}.diff")
    options = ("--scenario", scenario, "--go-test", str(tmp_path / "there"), "-o", "json")
    ran = Shell(capsys)("verify", diff, "--kubernetes", "v1.36.3", *options)
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (1, "BREAKS")
    opened = [race for race in found["races"] if race["outcome"] == "opens"]
    assert [(race["name"], race["property"], race["without"]) for race in opened] == [(scenario, name, [fix])]
    builders = (tmp_path / "there").rglob("test/utils/image/manifest.go")
    assert [*builders], "the tests build objects with upstream's builders, which read it"
