"""Feature gates and patch versions, wherever a release is asked for; and what a verdict says of its version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace import api
from podrace.analysis.scheduler_version import version_named
from podrace.cli.configuration.option_rows import gate_settings, release_names
from podrace.model.history.versions import NOT_YET
from podrace.reports.scheduler_version import ReadVersion
from tests.cli.helpers import TINY, Shell, flat

pytestmark = pytest.mark.usefixtures("searched_once")

RACE = "dropped-by-pop"
OFF = "SchedulerQueueingHints=false"
LOCKED = "SchedulerQueueingHints is locked to true in 1.34.4 (GA), which upstream refuses to change"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))


def test_a_gate_decides_whether_there_is_the_race(shell: Shell) -> None:
    on = shell("check", RACE, "--release", "1.33.0", "-o", "json")
    off = shell("check", RACE, "--release", "1.33.0", "--gate", OFF, "-o", "json")
    (first,), (second,) = json.loads(on.out), json.loads(off.out)
    assert (first["verdict"], second["verdict"]) == ("VIOLATED", "HOLDS")
    assert "gates" not in first["fixes"]
    assert second["fixes"]["gates"] == {"SchedulerQueueingHints": False}
    assert second["version"] == {"exact": "1.33.0", "sources": "whole", "unmodelled_gates": []}
    told = shell("check", RACE, "--release", "1.33.0", "--gate", OFF)
    assert f"{RACE}, 1.33.0 SchedulerQueueingHints=false: S-CONS HOLDS" in told.out
    assert told.out.count("\nscheduler 1.33.0: ") == 1


def test_the_command_line_wins_over_the_scenario(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    file.write_text(TINY.replace("1.19.0", "1.33.0") + "featureGates: {SchedulerQueueingHints: false}\n")
    assert "set.yaml" not in shell("check", str(file)).err
    assert [f.label for f in api.check(file)] == ["1.33.0 SchedulerQueueingHints=false"]
    assert [f.label for f in api.check(file, gate="SchedulerQueueingHints=true")] == ["1.33.0"]
    assert [f.label for f in api.check(file, release="1.32.13")] == ["1.32.13 SchedulerQueueingHints=false"]
    ran = shell("check", str(file), "--release", "1.34.4")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(f"set.yaml:7: featureGates.SchedulerQueueingHints: {LOCKED}\n")


def test_what_a_scenario_may_not_say(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    for line, problem in (
        ("featureGates: {Hints: 1}", "featureGates.Hints: expected true or false"),
        ("featureGates: [A]", "featureGates: expected a mapping from feature gates to true or false"),
        (
            "featureGates: {SchedulerQueueingHint: true}",
            "unknown gate `SchedulerQueueingHint`; the nearest: SchedulerQueueingHints, ",
        ),
    ):
        file.write_text(f"{TINY}{line}\n")
        ran = shell("check", str(file))
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"set.yaml:7: {problem.partition(':')[0]}" in ran.err or problem in ran.err


def test_expected_verdicts_with_gates(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "expects.yaml"
    element = "{release: 1.33.13, featureGates: {SchedulerQueueingHints: false}, verdicts: {S-CAP: holds}}"
    file.write_text(f"{TINY}expect:\n- {element}\n- {{release: 1.36.4, verdicts: {{S-CAP: holds}}}}\n")
    ran = shell("test", str(file))
    assert ran.code == 0
    assert "  ok   1.33.13 SchedulerQueueingHints=false: S-CAP  " in ran.out
    assert "  ok   1.36.4: S-CAP  " in ran.out
    assert (
        "\nscheduler 1.36.4: sources read in full; 1 feature gate on by default and not modelled " in ran.out
    )
    file.write_text(file.read_text().replace("1.33.13", "1.34.4"))
    assert f"expects.yaml:8: expect[0].featureGates: {LOCKED}\n" in shell("test", str(file)).err


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", RACE, "--release", "1.34.4", "--gate", OFF],
        ["prove", "--pods", "1", "--nodes", "1", "--release", "1.34.4", "--gate", OFF],
        ["verify", "139450", "--release", "1.34.4", "--gate", OFF],
        ["verify", "139450", "--release", "1.34.4", "--gate", OFF, "--minimal"],
        ["diff", "--before", "1.33.0", "--after", "1.34.4", "--gate", OFF, "--scenario", RACE],
    ],
)  # fmt: skip
def test_every_command_refuses_what_upstream_refuses(shell: Shell, arguments: list[str]) -> None:
    ran = shell(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: --gate: {LOCKED}\n")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("SchedulerQueueingHints", "--gate: `SchedulerQueueingHints`: write NAME=true or NAME=false"),
        ("SchedulerQueueingHints=off", "--gate: `SchedulerQueueingHints=off`: write NAME=true or NAME=false"),
        ("Hints=true", "--gate: unknown gate `Hints`; `podrace gates` lists those that concern the scheduler"),
        ("GangScheduling=true,GangScheduling=false", "--gate: GangScheduling is set to true and to false: leave out one of them"),
        ("WorkloadAwarePreemption=true", "--gate: WorkloadAwarePreemption=true is not modelled in 1.36.3: in the model each pod of a group is placed and preempted separately; leave it at false"),
        ("EvenPodsSpread=true", "--gate: 1.36.3 has no gate EvenPodsSpread: it came with 1.16.0 and was gone in 1.22.0"),
    ],
)  # fmt: skip
def test_mistakes(shell: Shell, setting: str, message: str) -> None:
    ran = shell("check", RACE, "--release", "1.36.3", "--gate", setting)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {message}\n")


def test_a_change_behind_a_gate_that_is_off(shell: Shell) -> None:
    ran = shell("check", RACE, "--release", "1.33.0", "--gate", OFF, "--with-fix", "125578")
    assert ran.err == (
        "podrace: fix 125578 is behind the gate SchedulerQueueingHints, which is set to false: leave out --with-fix or --gate\n"
    )


def test_versions(shell: Shell, tiny: str) -> None:
    for asked, label in (
        ("1.34", "1.34.11"),
        ("v1.34.0", "1.34.0"),
        ("1.34.4", "1.34.4"),
        ("v1.35.4", "1.35.4"),
    ):
        assert [f.label for f in api.check(tiny, release=asked)] == [label]
    assert shell("check", tiny, "--release", "1.34.1").err == (
        "podrace: unknown release `1.34.1`; known of 1.34: 1.34.0, 1.34.2, 1.34.3, 1.34.4, 1.34.11; take 1.34.0, and add with --with-fix what "
        "came after it\n"
    )
    assert "take 1.34.4, and add" in shell("check", tiny, "--release", "1.34.9").err


def test_two_patch_versions_compared(shell: Shell) -> None:
    ran = shell("diff", "--before", "1.36.3", "--after", "1.36.4", "--scenario", RACE)
    assert ran.code == 0
    assert "before: 1.36.3   after: 1.36.4" in ran.out
    assert "\nscheduler 1.36.3: sources read in full; " in ran.out
    assert "\nscheduler 1.36.4: sources read in full; " in ran.out


def test_gates_of_a_scenario_hold_on_both_sides(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "both.yaml"
    file.write_text(TINY + "featureGates: {SchedulerQueueingHints: false}\n")
    ran = shell("diff", "--before", "1.32.0", "--after", "1.33.6", "--scenario", str(file), "-o", "json")
    (pair,) = json.loads(ran.out)["pairs"]
    assert [pair[side]["fixes"]["gates"] for side in ("before", "after")] == [
        {"SchedulerQueueingHints": False}
    ] * 2


def test_a_stored_trace_keeps_version_and_gates(shell: Shell, tmp_path: Path) -> None:
    trace, setting = str(tmp_path / "trace.json"), "SchedulerAsyncPreemption=false"
    assert shell("check", RACE, "--release", "1.34.4", "--gate", setting, "--save-trace", trace).code == 1
    stored = json.loads(Path(trace).read_text())
    assert (stored["release"], stored["fixes"]["gates"]) == ("1.34.4", {"SchedulerAsyncPreemption": False})
    ran = shell("replay", trace)
    assert f"{RACE}, 1.34.4 {setting}: S-CONS" in flat(ran.out)
    assert "another fingerprint" not in ran.out + ran.err


def test_the_listing(shell: Shell) -> None:
    ran = shell("gates", "--release", "1.34.0")
    lines = ran.out.splitlines()
    assert (
        "SchedulerQueueingHints                          GA     on, locked  modelled: 118438, hints-decide, 125578"
        in lines
    )
    assert "OpportunisticBatching" not in ran.out
    assert [line for line in lines if line.startswith("SchedulerAsyncAPICalls")] == [
        "SchedulerAsyncAPICalls                          beta   on          modelled, taken as off: 134400"
    ]
    assert lines[-1] == (
        "scheduler 1.34.0: sources read in full; 1 feature gate on by default and not modelled (podrace gates --release 1.34.0)"
    )
    rows = json.loads(shell("gates", "--release", "1.9.0", "-o", "json").out)
    assert rows["version"] == "1.9.0"
    (priority,) = [row for row in rows["gates"] if row["name"] == "PodPriority"]
    assert (priority["default"], priority["taken_as_on"], priority["changes"]) == (False, True, ["55109"])


def test_how_sources_were_read() -> None:
    assert version_named("1.13").line == "1.13.0: sources read by pull request, not in full"
    assert version_named("1.35").reading == "1.35.0: sources read in full"
    assert version_named("1.35.4").reading == "1.35.4: sources read in full"
    one = ReadVersion("1.40.1", "whole", unmodelled_gates=("Foo",))
    assert one.line.endswith(
        "; 1 feature gate on by default and not modelled (podrace gates --release 1.40.1)"
    )
    assert one.words == "1.40.1: sources read in full. On by default and not modelled: Foo."


@pytest.mark.parametrize("form", ["text", "markdown", "github", "junit", "json", "sarif", "html"])
@pytest.mark.parametrize("release", ["1.37.2", "1.38.0-beta.0"])
def test_every_form_says_what_a_pre_release_is_not_modelled_with(
    shell: Shell, tiny: str, release: str, form: str
) -> None:
    told = shell("check", tiny, "--release", release, "-o", form).out
    assert ("negative capacity" in told) == (release in NOT_YET)


def test_every_form_names_the_version(shell: Shell, tiny: str, tmp_path: Path) -> None:
    names = "On by default and not modelled: InPlacePodLevelResourcesVerticalScaling."
    asked = ("check", tiny, "--release", "1.36.4")
    assert f"> scheduler 1.36.4: sources read in full. {names}" in shell(*asked, "-o", "markdown").out
    race = shell("check", RACE, "--release", "1.36.4", "-o", "sarif")
    (result,) = json.loads(race.out)["runs"][0]["results"]
    assert result["properties"]["version"]["exact"] == "1.36.4"
    shell(*asked, "--report", str(tmp_path / "report"))
    pages = [page.read_text() for page in (tmp_path / "report").rglob("*.html")]
    assert any(f"Scheduler 1.36.4: sources read in full. {names}" in page for page in pages)


def test_what_a_shell_completes() -> None:
    assert release_names("1.34") == ["1.34.0", "1.34.2", "1.34.3", "1.34.4", "1.34.11"]
    assert gate_settings("SchedulerAsyncP") == [
        "SchedulerAsyncPreemption=true",
        "SchedulerAsyncPreemption=false",
    ]
    assert gate_settings("SchedulerAsyncA") == ["SchedulerAsyncAPICalls=true", "SchedulerAsyncAPICalls=false"]


def test_a_configuration_file_sets_both(
    shell: Shell, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / ".podrace.yaml"
    settings.write_text("defaults:\n  release: 1.34.4\n  gate: [SchedulerAsyncPreemption=false]\n")
    assert "1.34.4 SchedulerAsyncPreemption=false: S-CAP HOLDS" in shell("check", tiny).out
    for wrong, problem in (
        ("Async=false", "unknown gate `Async`; "),
        ("OpportunisticBatching=true", "1.34.4 has no gate OpportunisticBatching: "),
    ):
        settings.write_text(f"defaults:\n  release: 1.34.4\n  gate: [{wrong}]\n")
        assert shell("check", tiny).err.startswith(f"podrace: .podrace.yaml:3: --gate: {problem}")
