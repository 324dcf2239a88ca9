"""The driver's answers, compared with those of a real kube-apiserver, call by call: what `make real` runs where `make cluster` has built one.

`PODRACE_REAL` names the versions. With `PODRACE_UPDATE_GOLDEN` the table in docs/notebook/api-calls.md is written.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from podrace.base.files import write_whole
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.running import BINARY, BUILD, Built, driver_files, run_test, write_sources
from tests.audit.cluster.binaries import build
from tests.audit.cluster.control_plane import control_plane
from tests.reproduce.real.calls_table import DIFFERENCES, PAGE, VERSIONS, Row, between, differing, put
from tests.reproduce.real.test_real import go_or_skip

ASKED = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or VERSIONS
CHOSEN = [version for version in VERSIONS if {version, version[1:]} & set(ASKED)]
FLAGS = {"feature-gates": "GenericWorkload=true", "runtime-config": "api/all=true"}
SCRIPTS = Path(__file__).parent / "api"
SERVERS = Path(__file__).parents[3] / "build" / "cluster"


def test_the_page_has_each_difference_and_its_reason() -> None:
    calls, reasons = (
        table.splitlines()[2:] for table in between(PAGE.read_text(encoding="utf-8")).split("\n\n")
    )
    rows = [Row(*(part.strip() for part in line.strip("|").split("|"))) for line in calls]
    assert (len(rows), sum(row.driver != "same" for row in rows)) == (145, 20)
    told = [line.strip("| ").split(" | ") for line in reasons]
    assert {(call, situation): why for call, situation, why in told} == DIFFERENCES
    assert [(row.call, row.situation) for row in rows if row.driver != "same"] == [
        (call, situation) for call, situation, _ in told
    ]


def with_scripts(version: str, go: Go, folder: Path) -> Built:
    """The driver of a version with the scripts in its package."""
    kubernetes = parse_version(version)
    scripts = {f"api_{path.name}": path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.go")}
    files = write_sources(folder, kubernetes, go, driver_files(kubernetes) | scripts)
    go.run(["run", "./gen"], folder, timeout=3600)
    go.run([*BUILD, "-o", BINARY, "."], folder, timeout=3600)
    return Built(kubernetes, folder, files.instead)


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_the_driver_answers_as_a_server_does(version: str, tmp_path: Path) -> None:
    servers = SERVERS / parse_version(version).tag
    if not (servers / "kube-apiserver").is_file():
        pytest.skip(
            f"{servers} has no kube-apiserver: run `make cluster CLUSTER='nothing-wrong --kubernetes {version}'`"
        )
    go = go_or_skip()
    module, place = tmp_path / "module", tmp_path / "server"
    module.mkdir()
    place.mkdir()
    driver = with_scripts(version, go, module)
    with control_plane(build(parse_version(version), servers), place, FLAGS) as plane:
        named = {
            "PODRACE_SERVER": f"https://127.0.0.1:{plane.port}",
            "PODRACE_CERTIFICATE": plane.certificate,
            "PODRACE_CALLS": tmp_path / "calls.json",
        }
        assert run_test(driver, "TestCalls", named, tmp_path, 300) == ""
    rows = [
        Row(**{key.lower(): value for key, value in row.items()})
        for row in json.loads((tmp_path / "calls.json").read_text())
    ]
    print(f"{version}: {len(rows)} calls, {len(differing(rows))} answered otherwise")
    assert {(row.call, row.situation) for row in differing(rows)} == set(DIFFERENCES)
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        write_whole(PAGE, put(text, rows).encode())
    else:
        assert put(text, rows) == text
