"""A shipped patch judged on kube-scheduler's own code. Part of `make real`."""

from __future__ import annotations

import json

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
