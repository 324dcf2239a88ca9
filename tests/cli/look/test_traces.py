"""Stored traces: written, executed again, shown in any form, and made into tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.analysis.stored.replayed import replayed
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.core.trace import plain_value
from podrace.cli import main
from podrace.reports.formats.json_schema import schema_of
from podrace.reports.stored import MAX_BYTES, format_trace, parse_trace
from tests.cli.helpers import MINE, TINY, Shell
from tests.profiles import examples
from tests.reports.standards import assert_matches, assert_sarif


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of an invariant, a resettability and a liveness, and one of a property of the user's own."""
    path = tmp_path_factory.mktemp("traces")
    (path / "mine.py").write_text(MINE)
    (path / "tiny.yaml").write_text(TINY)
    for line in (
        "check 72124 --save-trace {0}/race.json",
        "check 53647 --save-trace {0}/no_way_back.json",
        "check 53647 --property L-PEND --save-trace {0}/lasso.json",
        "check {0}/tiny.yaml -P {0}/mine.py --save-trace {0}/own.json",
    ):
        assert main.run([word.format(path) for word in [*line.split(), "-o", "junit"]]) == 1
    return path


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> Shell:
    monkeypatch.chdir(folder)
    return Shell(capsys)


def changed(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> str:
    """A copy of race.json with a change; gives its name."""
    document = json.loads((folder / "race.json").read_text())
    change(document)
    (folder / name).write_text(json.dumps(document))
    return name


@pytest.mark.parametrize("name", ["race", "no_way_back", "lasso", "own"])
def test_what_is_stored_is_as_the_schema_says(folder: Path, name: str) -> None:
    text = (folder / f"{name}.json").read_text()
    assert_matches(schema_of("trace"), json.loads(text))
    assert format_trace(parse_trace(text, "x")) == text


def test_what_a_trace_holds(folder: Path) -> None:
    trace = parse_trace((folder / "race.json").read_bytes(), "race.json")
    assert (trace.scenario.name, trace.scenario.file) == ("nominated-node-race", "scenarios/72124.yaml")
    assert trace.scenario.text.startswith("# https://github.com/kubernetes/kubernetes/issues/72124")
    assert (trace.release, trace.property, trace.fixed_by) == ("1.13.0", "S-NOMVIS", ("72259",))
    assert trace.steps[2].label == "scheduler.filter(pod=p, node=n1)"
    assert len(trace.steps) == 15


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("race", "Violated by a stored run of 15 steps, executed again. Nothing else was looked at."),
        ("no_way_back", "fair steps lead to. Nothing else was looked at."),
        (
            "lasso",
            "Violated: p waits indefinitely although it fits, by a stored run of 18 steps, executed again.",
        ),
    ],
)
def test_a_trace_is_executed_again(shell: Shell, name: str, words: str) -> None:
    ran = shell("replay", f"{name}.json")
    assert (ran.code, ran.err) == (0, "")
    assert words in " ".join(ran.out.split())


def test_a_replay_shows_every_step_and_where_the_cycle_begins(shell: Shell) -> None:
    assert (
        "  15. The scheduler assumes q on n1: in its cache the pod is there already.\n"
        in shell("replay", "race.json").out
    )
    out = shell("replay", "race.json", "-v").out
    assert "15  │   │   assume(q, n1)" in out
    assert "● q is assumed" in out
    lasso = shell("replay", "lasso.json", "-v").out
    lasso = lasso[lasso.index("│") :]
    assert lasso.index("delete_node(n)") < lasso.index("indefinitely:") < lasso.index("add_fetched(p)")


def test_a_replay_respects_the_terminal(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = re.compile(r"\x1b\[(?:[0-9];)*3[0-9]")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "70")
    assert coloured.search(shell("replay", "lasso.json").out)
    plain = shell("replay", "lasso.json", "--no-color").out
    assert coloured.search(plain) is None
    lines = re.sub(r"\x1b\[[0-9;]*m", "", plain).splitlines()
    assert [line for line in lines if len(line) > 70] == []
    monkeypatch.setenv("NO_COLOR", "1")
    assert coloured.search(shell("replay", "lasso.json").out) is None


@pytest.mark.parametrize("columns", ["0", "00", ""])
def test_a_width_that_nobody_knows_hides_nothing(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    expected = shell("replay", "lasso.json").out
    assert len(expected) > 100
    monkeypatch.setenv("COLUMNS", columns)
    assert shell("replay", "lasso.json").out == expected


def test_a_property_of_ones_own_is_named_again(shell: Shell) -> None:
    ran = shell("replay", "own.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "podrace: own.json: property: podrace has no `MY-NONE`; if it is your own, name its file with --properties; "
    )
    assert shell("replay", "own.json", "-P", "mine.py").code == 0
    assert shell("explain", "own.json", "-P", "mine.py", "-o", "junit").out.startswith(
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="podrace" tests="1" failures="1"'
    )


GONE: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d["fixes"].update(added=["72259"]), "step 9 of 15, `scheduler.write_nomination(pod=p, ok=True)`, is no longer enabled, its guard is false: scheduler.phase is NOMINATE"),
    (lambda d: d["steps"].pop(), "all 14 steps are possible, but they no longer violate S-NOMVIS"),
    (lambda d: d.update(property="S-CAP"), "all 15 steps are possible, but they no longer violate S-CAP"),
    (lambda d: d["steps"][2]["args"].update(node="n9"), "step 3 of 15, `scheduler.filter(pod=p, node=n9)`, is unknown to the model; of this step it has scheduler.filter(pod=v, node=n1), scheduler.filter(pod=p, node=n1), scheduler.filter(pod=q, node=n1)"),
    (lambda d: d["steps"].insert(0, {"step": "a.b\n", "args": {"ok": 1}}), "step 1 of 16, `a.b\N{REPLACEMENT CHARACTER}(ok=1)`, is unknown to the model"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), GONE, ids=range(len(GONE)))
def test_what_the_model_no_longer_allows_is_named(
    shell: Shell, folder: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    ran = shell("replay", changed(folder, "changed.json", change))
    assert ran.code == 1
    assert f"GONE: {words}" in " ".join(ran.out.split())


def test_a_run_that_is_gone_is_told_in_sentences(shell: Shell, folder: Path) -> None:
    """As far as it goes; with its lanes by -v."""
    gone = changed(folder, "gone.json", lambda d: d["fixes"].update(added=["72259"]))
    told, lanes = shell("replay", gone), shell("replay", gone, "-v")
    assert "\n  3. The filters fail: p does not fit on n1: Insufficient cpu.\n" in told.out
    assert ("  9." in told.out, "\u2502" in told.out, "\u2502" in lanes.out) == (False, False, True)
    assert "The filters fail" not in lanes.out
    assert "reason: Insufficient cpu" in lanes.out
    assert (told.code, lanes.code) == (1, 1)


def test_what_can_no_longer_be_executed_is_not_shown(shell: Shell, folder: Path) -> None:
    ran = shell("explain", changed(folder, "changed.json", lambda d: d["steps"].pop()))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == (
        "podrace: changed.json: all 14 steps are possible, but they no longer violate S-NOMVIS"
    )


def test_a_bool_is_no_number(shell: Shell, folder: Path) -> None:
    ran = shell("replay", changed(folder, "one.json", lambda d: d["steps"][8]["args"].update(ok=1)))
    assert "`scheduler.write_nomination(pod=p, ok=1)`, is unknown to the model" in " ".join(ran.out.split())


def test_another_model_is_said_to_be_another(shell: Shell, folder: Path) -> None:
    ran = shell("replay", changed(folder, "other.json", lambda d: d.update(fingerprint="00")))
    assert ran.code == 0
    assert ran.err == (
        "other.json: the model has changed since this was stored (another fingerprint); the steps below are today's\n"
    )


BAD: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d.update(version=2), "a trace in version 2 of the format, and this podrace reads version 1: use the podrace that wrote it"),
    (lambda d: d.update(format="x"), "no trace of podrace: Invalid enum value 'x' - at `$.format`: name a file that `podrace check --save-trace` wrote"),
    (lambda d: d.update(more=1), "no trace of podrace: Object contains unknown field `more`: name a file that `podrace check --save-trace` wrote"),
    (lambda d: d.pop("steps"), "no trace of podrace: Object missing required field `steps`: name a file that `podrace check --save-trace` wrote"),
    (lambda d: d.update(expected="HOLDS"), "no trace of podrace: Invalid enum value 'HOLDS' - at `$.expected`: name a file that `podrace check --save-trace` wrote"),
    (lambda d: d["fixes"].update(added=["72259"], removed=["72259"]), "fixes: fix 72259 cannot be put in and taken out at once"),
    (lambda d: d.update(lasso={"case": "x", "turn": 99}), "lasso: `turn` is 99, and there are 15 steps: write after how many of them the rest repeats indefinitely"),
    (lambda d: d["scenario"].update(text="x: ["), "scenario: scenarios/72124.yaml:1: not a YAML that podrace reads: expected the node content, but found '<stream end>'"),
    (lambda d: d["scenario"].update(text=""), "scenario: scenarios/72124.yaml: the file is empty: a scenario has at least `nodes` and `pods`"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("command", ["replay", "explain"])
def test_a_bad_trace_is_one_line(
    shell: Shell, folder: Path, command: str, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    ran = shell(command, changed(folder, "bad.json", change))
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: bad.json: {message}\n")


def test_a_release_or_a_fix_that_does_not_exist(shell: Shell, folder: Path) -> None:
    ran = shell("replay", changed(folder, "bad.json", lambda d: d.update(release="1.7.0")))
    assert (ran.code, ran.err.split(";")[0]) == (2, "podrace: bad.json: unknown release `1.7.0`")
    ran = shell("replay", changed(folder, "bad.json", lambda d: d["fixes"].update(removed=["1"])))
    assert (ran.code, ran.err.split(";")[0]) == (2, "podrace: bad.json: unknown fix `1`")


def test_texts_of_windows(shell: Shell, folder: Path) -> None:
    race = (folder / "race.json").read_text()
    (folder / "edited.json").write_bytes(b"\xef\xbb\xbf" + race.replace("\n", "\r\n").encode())
    assert shell("replay", "edited.json").code == 0
    (folder / "edited.json").write_bytes(race.encode("utf-16"))
    ran = shell("replay", "edited.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: edited.json: UTF-16, as a shell of Windows writes it: write it as UTF-8\n"


def test_files_that_are_no_traces(shell: Shell, folder: Path) -> None:
    assert (
        shell("replay", "none.json").err
        == "podrace: none.json: cannot be read: No such file or directory: name a file that `podrace check --save-trace` wrote\n"
    )
    assert shell("replay", ".").err.startswith("podrace: .: cannot be read: Is a directory: name a file")
    (folder / "big.json").write_bytes(b" " * (MAX_BYTES + 1))
    assert shell("replay", "big.json").err == (
        "podrace: big.json: larger than 16 MiB, so it is no trace of podrace\n"
    )
    (folder / "deep.json").write_text("[" * 100_000)
    ran = shell("replay", "deep.json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in inner for found in places(part, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> bytes:
    """What is left of a trace after something happened to it."""
    kind = draw(st.sampled_from(["cut", "byte", "value", "gone", "steps"]))
    data = text.encode()
    if kind == "cut":
        return data[: draw(st.integers(0, len(data) - 1))]
    if kind == "byte":
        at = draw(st.integers(0, len(data) - 1))
        return data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    document = json.loads(text)
    if kind == "steps":
        document["steps"] = draw(st.permutations(document["steps"]))[: draw(st.integers(0, 6))]
        return json.dumps(document).encode()
    *outer, last = draw(st.sampled_from(places(document)[1:]))
    holder = document
    for key in outer:
        holder = holder[key]
    if kind == "value":
        holder[last] = draw(JSON)
    else:
        del holder[last]
    return json.dumps(document).encode()


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_whatever_happens_to_a_trace_is_one_line_or_an_answer(folder: Path, data: st.DataObject) -> None:
    text = (folder / "own.json").read_text()
    file = folder / "mutated.json"
    file.write_bytes(data.draw(mutated(text)))
    ran = run_quietly(["replay", str(file), "-P", str(folder / "mine.py"), "--no-color"])
    code, out, err = ran
    assert code in (0, 1, 2), ran
    assert "Traceback" not in err, ran
    if code == 2:
        assert (out, err.count("\n"), err.startswith("podrace: ")) == ("", 1, True), ran
    else:
        assert ("Violated by a stored run" if code == 0 else "GONE: ") in out, ran


def run_quietly(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command line in this process; capsys is one for all examples of Hypothesis."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main.run(arguments)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(
    ("form", "beginning"),
    [
        ("text", "removed-node-blocks-pods, 1.8.0: L-PEND VIOLATED\n"),
        ("json", '[\n  {\n    "scenario": "removed-node-blocks-pods"'),
        (
            "junit",
            '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="podrace" tests="1" failures="1"',
        ),
        (
            "github",
            "::error file=scenarios/53647.yaml,line=25,title=removed-node-blocks-pods%2C 1.8.0%3A L-PEND VIOLATED::",
        ),
        ("markdown", "# podrace\n\n|  | scenario |"),
        ("mermaid", "%% removed-node-blocks-pods, 1.8.0: L-PEND\nsequenceDiagram\n"),
    ],
)
def test_a_trace_is_shown_in_any_form(shell: Shell, form: str, beginning: str) -> None:
    ran = shell("explain", "lasso.json", "-o", form)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(beginning)


def test_a_trace_as_sarif_points_at_the_pods(shell: Shell) -> None:
    log = assert_sarif(shell("explain", "race.json", "-o", "sarif").out)
    (result,) = log["runs"][0]["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
    assert lines == [20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 21, 19, 21, 21, 21]  # p, q and v


def test_a_trace_is_drawn(shell: Shell, folder: Path) -> None:
    ran = shell("explain", "race.json", "--graph", "race.dot")
    assert ran.err == "wrote race.dot (nominated-node-race, 1.13.0: S-NOMVIS)\n"
    assert (folder / "race.dot").read_text().startswith("digraph")


def test_a_run_that_goes_on_after_its_violation_is_cut_there(shell: Shell, folder: Path) -> None:
    found = replayed(parse_trace((folder / "race.json").read_bytes(), "race.json"))
    able = found.system.transitions[Interpreter(found.system).enabled(found.trace.states[-1])[0]]
    more = {
        "step": f"{able.part}.{able.step}",
        "args": {name: plain_value(value) for name, value in able.args},
    }
    ran = shell("replay", changed(folder, "longer.json", lambda d: d["steps"].append(more)))
    assert ran.code == 0
    assert "Violated by a stored run of 15 steps" in ran.out


def test_nothing_to_store(shell: Shell, folder: Path) -> None:
    ran = shell("check", "tiny.yaml", "--save-trace", "no.json")
    assert (ran.code, ran.err) == (0, "no counterexample to store: no.json was not written\n")
    assert not (folder / "no.json").exists()
    ran = shell("check", "tiny.yaml", "--save-trace", "no/no.json")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --save-trace: cannot write `no/no.json`: there is no directory `no`\n",
    )


def test_what_has_no_column_is_named_in_the_page(shell: Shell) -> None:
    """Two claims were `allocated gpu1`, and no one could see which."""
    page = shell("check", "device-twice", "-o", "html").out
    assert '<b>claim c1</b><span class="fact">allocated gpu1</span><b>claim c2</b><span class="fact' in page
    assert "<b>the cycle" not in page
