"""`podrace reproduce` and `podrace drift --run`, with a Go that builds nothing (tests/reproduce/fake_go.py)."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from podrace.reports.formats.json_schema import schema_of
from podrace.reproduce import running
from tests.cli.helpers import Shell, flat
from tests.reproduce.conftest import ghost, go
from tests.reproduce.ghosts import STEPS, trace

__all__ = ["ghost", "go"]

OK, REPRODUCED, USAGE, OTHERWISE = 0, 1, 2, 3


def said(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setenv("FAKE_GO", what)


def test_a_trace_is_run(shell: Shell, go: Path, ghost: Path) -> None:
    ran = shell("reproduce", str(ghost), "--run")
    assert ran.code == REPRODUCED
    assert ran.out.startswith("ghost, v1.36.3: S-GHOST REPRODUCED\n  A deleted pod is put into the queue\n")
    assert " 1  scheduler        pop(p)                   Queue.Pop< p    same\n" in ran.out
    assert "All 11 steps were forced, and the real state violates S-GHOST." in ran.out
    assert "p is bound after 5 min 31 s (by the periodic flush): UNSCHEDULABLE after 10 s" in flat(ran.out)
    assert (
        "k8s.io/gone v0.36.5 stands in for the version that upstream asks for, which is not available."
        in ran.out
        or "v0.36.1" in ran.out
    )


def test_it_is_built_once(shell: Shell, go: Path, ghost: Path, tmp_path: Path) -> None:
    """The binary is kept by version and driver."""
    for _ in range(2):
        assert shell("reproduce", str(ghost), "--run").code == REPRODUCED
    asked = (go / "asked.txt").read_text().splitlines()
    assert sum(line.startswith("test -c") for line in asked) == 1
    (kept,) = (tmp_path / "cache" / "real").glob("v*")
    assert kept.name.startswith("v1.36.3-")
    assert {path.name for path in kept.iterdir()} >= {
        "go.mod",
        "go.sum",
        "gen",
        "stage_world.go",
        "wrappers_gen.go",
        "replay.test",
    }


@pytest.mark.parametrize("name", ["replay.test", "modules.json", "signature"])
def test_what_was_changed_is_built_again(
    shell: Shell, go: Path, ghost: Path, tmp_path: Path, name: str
) -> None:
    """A driver decides verdicts: one that podrace did not build, or not for this user, is not run."""
    assert shell("reproduce", str(ghost), "--run").code == REPRODUCED
    (kept,) = (tmp_path / "cache" / "real").glob("v*")
    was = (kept / name).read_bytes()
    (kept / name).write_bytes(b"#!/bin/sh\necho PASS\n" + was)
    assert shell("reproduce", str(ghost), "--run").code == REPRODUCED
    assert sum(line.startswith("test -c") for line in (go / "asked.txt").read_text().splitlines()) == 2
    if name != "signature":
        assert (kept / name).read_bytes() == was


@pytest.mark.parametrize(
    ("fake", "code", "headline"),
    [
        ("differs 4", OTHERWISE, "S-GHOST DIFFERS at step 4"),
        ("held 7", OTHERWISE, "S-GHOST CANNOT BE FORCED at step 7"),
        ("not there 2", OK, "S-GHOST NOT THERE at step 2"),
        ("holds", OTHERWISE, "S-GHOST DIFFERS at step 11"),
        ("crash", OTHERWISE, "S-GHOST CRASHED"),
    ],
)
def test_verdicts(
    shell: Shell, go: Path, ghost: Path, monkeypatch: pytest.MonkeyPatch, fake: str, code: int, headline: str
) -> None:
    said(monkeypatch, fake)
    ran = shell("reproduce", str(ghost), "--run")
    assert (ran.code, ran.out.splitlines()[0]) == (code, f"ghost, v1.36.3: {headline}")


def test_differences_side_by_side(
    shell: Shell, go: Path, ghost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(monkeypatch, "differs 4")
    out = shell("reproduce", str(ghost), "--run").out
    assert "after step  variable         model    real\n         4  scheduler.phase  DRY_RUN  none\n" in out
    assert "Read by" not in out


def test_json(shell: Shell, go: Path, ghost: Path) -> None:
    ran = shell("reproduce", str(ghost), "--run", "-o", "json")
    (found,) = json.loads(ran.out)
    jsonschema.validate([found], schema_of("reproduction"))
    assert (found["verdict"], found["scheduler"], found["violated"]) == ("REPRODUCED", "v1.36.3", True)
    assert found["steps"][0]["real"]["queue.in_flight[p]"] is True
    assert shell("schema", "reproduction").code == OK


def test_a_form_of_other_commands_is_no_directory(shell: Shell, ghost: Path, tmp_path: Path) -> None:
    ran = shell("reproduce", str(ghost), "-o", "markdown")
    assert (ran.code, ran.err) == (2, ran.err)
    assert "'markdown' is not one of text, json" in ran.err
    assert not (tmp_path / "markdown").exists()


def test_a_module_is_written(shell: Shell, go: Path, ghost: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    for _ in range(2):  # an earlier module may be written over
        ran = shell("reproduce", str(ghost), "--directory", str(folder))
        assert (ran.code, ran.out.splitlines()[0]) == (OK, "ghost, v1.36.3: S-GHOST NOT RUN")
    assert {path.name for path in folder.iterdir()} >= {
        "README.md",
        "cases.jsonl",
        "go.mod",
        "go.sum",
        "gen",
        "stage_world.go",
    }
    assert not (folder / "wrappers_gen.go").exists()
    (case,) = map(json.loads, (folder / "cases.jsonl").read_text().splitlines())
    assert (case["format"], case["id"], len(case["steps"])) == ("podrace-case", "ghost S-GHOST", 11)
    assert "go run ./gen && PODRACE_CASES=$PWD/cases.jsonl" in (folder / "README.md").read_text()


def test_without_run_a_directory_is_made(
    shell: Shell, go: Path, ghost: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shell("reproduce", str(ghost)).code == OK
    assert (tmp_path / "reproduce-ghost-v1.36.3" / "go.mod").is_file()


def test_written_and_run(shell: Shell, go: Path, ghost: Path, tmp_path: Path) -> None:
    ran = shell("reproduce", str(ghost), "--directory", str(tmp_path / "out"), "--run")
    builds = "building the scheduler v1.36.3 (first time: 2 to 4 minutes)"
    assert (ran.code, ran.err) == (REPRODUCED, f"{builds}\nwrote {tmp_path / 'out'}\n")


def test_a_hazard_is_searched(shell: Shell, go: Path) -> None:
    ran = shell("reproduce", "ghost", "--kubernetes", "v1.36.3", "--run")
    assert (ran.code, ran.out.splitlines()[0]) == (REPRODUCED, "ghost, v1.36.3: S-GHOST REPRODUCED")


def test_a_race_that_is_gone(shell: Shell, go: Path) -> None:
    """Nothing is built for it."""
    ran = shell("reproduce", "72124", "--kubernetes", "1.36.3", "--run")
    assert (ran.code, ran.out.splitlines()[0]) == (OK, "nominated-node-race, v1.36.3: S-NOMVIS HOLDS")
    assert not (go / "asked.txt").read_text().count("mod download")


MISTAKES = [
    (("ghost", "--kubernetes", "banana"), "--kubernetes: `banana`: neither a version nor a directory: write a version such as v1.36.3, or name a checkout of kubernetes"),
    (("ghost", "--kubernetes", "v1.28.0"), "v1.28.0 cannot be built any more: name v1.29.0 or later"),
    (("ghost", "--kubernetes", "1.38.0"), "the model does not have v1.38.0, of 1.38 it has 1.38.0-beta.0: name one of these, or say with --release what to compare it with"),
    (("ghost", "--kubernetes", "v1.36.99"), "the model does not have v1.36.99, of 1.36 it has 1.36.0, 1.36.1, 1.36.3"),
    (("ghost", "--kubernetes", "v1.36.99", "--release", "1.36.3", "--run"), "there is no k8s.io/kubernetes v1.36.99"),
    (("ghost", "--kubernetes", "v1.35.0", "--run"), "Go cannot fetch modules"),
    (("nothing",), "unknown race or hazard `nothing`; `podrace races` and docs/hazards.md have those that are known; or name a trace"),
    (("ghots",), "unknown race or hazard `ghots`; did you mean `ghost`? `podrace races` and docs/hazards.md have those that are known"),
    (("ghost", "--property", "S-NOPE"), "unknown property `S-NOPE`; the nearest: S-NOM, S-SNAP, S-RWOP, S-ONCE, S-NOMLIVE; `podrace properties` lists all"),
    (("nothing.json",), "nothing.json: cannot be read: No such file or directory: name a file that `podrace check --save-trace` wrote"),
    (("TRACE", "--kubernetes", "1.35.4"), "a trace of 1.36.3, and v1.35.4 is to be run"),
    (("TRACE", "--kubernetes", "1.36.99"), "the model does not have v1.36.99, of 1.36 it has 1.36.0, 1.36.1, 1.36.3"),
    (("TRACE", "--property", "S-CAP"), "--property and --gate are for races and hazards"),
    (("DAMAGED",), "no trace of podrace: Input data was truncated"),
    (("OTHER",), "unknown release `1.99`"),
    (("PATCHED",), "it was found with a patch of yours (mine)"),
    (("FIXED",), "a trace of 1.36.3 + 139450, which is no version"),
    (("UNKNOWN",), "UNKNOWN.json: the run is gone: step 1 of 1, `scheduler.dance(pod=p)`, is unknown to the model: make the trace again with `podrace check --save-trace`"),
    (("SHORT",), "SHORT.json: the run is gone: all 9 steps are possible, but they no longer violate S-GHOST: make the trace again"),
    (("NO PROPERTY",), "NO PROPERTY.json: property: podrace has no `S-NONE`, and properties of your own are not run on the real scheduler; did you mean `S-ONCE`? `podrace properties` lists its own"),
    (("TRACE", "--directory", "/proc/nowhere/x"), "--directory: "),
    (("TRACE", "--directory", "FULL"), "holds other things"),
    (("TRACE", "--directory", "TRACE"), "is a file: name a directory"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), MISTAKES)
def test_mistakes(
    shell: Shell, go: Path, ghost: Path, tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    """One line each, and exit code 2."""
    texts = {
        "DAMAGED": trace()[:300],
        "OTHER": trace("1.99"),
        "PATCHED": trace(fixes={"patches": ["mine"]}),
        "FIXED": trace(fixes={"added": ["139450"]}),
        "UNKNOWN": trace(steps=[{"step": "scheduler.dance", "args": {"pod": "p"}}]),
        "SHORT": trace(steps=[{"step": step, "args": args} for step, args in STEPS[:9]]),
        "NO PROPERTY": trace(property="S-NONE"),
    }
    files = {"TRACE": str(ghost), "FULL": str(tmp_path)}
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(text)
        files[name] = str(tmp_path / f"{name}.json")
    ran = shell("reproduce", *(files.get(argument, argument) for argument in arguments))
    assert (ran.code, ran.out) == (USAGE, "")
    assert line in ran.err
    assert ran.err.count("\n") == 1


def test_without_go(shell: Shell, ghost: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for arguments in (("reproduce", str(ghost), "--run"), ("reproduce", str(ghost)), ("drift", "--run")):
        ran = shell(*arguments)
        assert (ran.code, ran.out) == (USAGE, "")
        assert ran.err == (
            "podrace: there is no Go on this machine: install Go 1.26 or later, and have `go` on PATH\n"
        )


def test_a_driver_that_does_not_compile(
    shell: Shell, go: Path, ghost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(monkeypatch, "does not compile")
    ran = shell("reproduce", str(ghost), "--run")
    assert ran.code == USAGE
    assert (
        "v1.36.3: the driver does not compile: ./world.go:7:2: undefined: scheduler.New (all of it: "
        in ran.err
    )


def test_another_release_if_that_is_asked_for(shell: Shell, go: Path, ghost: Path) -> None:
    ran = shell("reproduce", str(ghost), "--kubernetes", "1.35.4", "--release", "1.36.3", "--run")
    assert (ran.code, ran.out.splitlines()[0]) == (REPRODUCED, "ghost, v1.35.4: S-GHOST REPRODUCED")


def test_a_cluster_that_objects_cannot_say(shell: Shell, go: Path, tmp_path: Path) -> None:
    text = trace()
    document = json.loads(text)
    document["scenario"]["text"] += "config: {minCandidateNodesAbsolute: 5}\n"
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(document))
    ran = shell("reproduce", str(file), "--run")
    assert (ran.code, ran.out.splitlines()[0]) == (OK, "ghost, v1.36.3: S-GHOST NOT THERE")
    assert "the configuration says min_candidates=5." in ran.out


def test_cases_after_one_that_crashes(go: Path, ghost: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are run without it."""
    from podrace.analysis.stored.replayed import read_trace, replayed
    from podrace.reproduce.case import case_of
    from podrace.reproduce.modules.module import parse_version
    from podrace.reproduce.modules.toolchain import find_go

    found = replayed(read_trace(ghost))
    cases = [case_of(found, name) for name in ("one", "two")]
    built = running.built_for(parse_version("1.36.3"), find_go(), lambda text: None)
    said(monkeypatch, "crash")
    outcomes = running.run_cases(built, cases)
    assert {name: o.verdict for name, o in outcomes.items()} == {"one": "CRASHED", "two": "CRASHED"}
    assert outcomes["one"].why == "panic: the scheduler has crashed"


def test_drift(shell: Shell, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every race and hazard that is chosen, in a table; exit code 1 where something is not as the model has it."""
    from podrace.reproduce import across
    from podrace.scenarios import catalogue, hazards

    chosen = [
        s for s in (*hazards(), *catalogue()) if s.name in ("ghost", "two-generals", "nominated-node-race")
    ]
    monkeypatch.setattr(across, "everything", lambda: chosen)
    ran = shell("drift", "--run", "--kubernetes", "v1.36.3")
    assert ran.code == OK
    rows = [line.split() for line in ran.out.splitlines()]
    assert rows[1:4] == [
        ["ghost", "S-GHOST", "v1.36.3", "11/11", "0", "REPRODUCED"],
        ["two-generals", "S-CAP", "v1.36.3", "11/11", "0", "REPRODUCED"],
        ["nominated-node-race", "S-NOMVIS", "v1.36.3", "HOLDS"],
    ]
    assert ran.out.endswith("2 reproduced, 1 gone (the property holds there)\n")
    said(monkeypatch, "held 3")
    ran = shell("drift", "--run", "-o", "json")
    assert ran.code == 1
    assert [row["verdict"] for row in json.loads(ran.out)] == [
        "CANNOT BE FORCED",
        "CANNOT BE FORCED",
        "HOLDS",
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("drift",), "name a kubernetes source tree, or run a version with --run"),
        (("drift", "here", "--run"), "--run: leave out DIR (write --kubernetes DIR to run a tree)"),
        (("drift", "here", "--kubernetes", "1.36.3"), "--kubernetes is for --run"),
    ],
)
def test_mistakes_of_drift(shell: Shell, go: Path, arguments: tuple[str, ...], line: str) -> None:
    ran = shell(*arguments)
    assert ran.code == USAGE
    assert line in ran.err
