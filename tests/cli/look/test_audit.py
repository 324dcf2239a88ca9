"""`podrace audit` on the command line: exit codes, forms, and what hostile logs cannot do."""

import json
from pathlib import Path

import pytest

from podrace.api import Broken, UsageProblem, audit, expect_kept
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import Object, bound, created, event, lines, listed, node, running
from tests.cli.helpers import Shell, flat
from tests.pages.pages import run_commands

CLEAN = [seen("n", 0), *both("a", 1), running("a", "n", 1.5)]
OVERFULL = [*CLEAN, *both("b", 2, "1500m")]
TIME = "2026-01-01T00:00:02.200Z"
WORDS = "n is overfull: 2500m of 2 cpu with default/a, default/b; the Binding of default/b was accepted last"


def written(folder: Path, events: list[Object]) -> list[str]:
    """The arguments for a complete log of a cluster that began with node n."""
    (folder / "audit.log").write_text(lines(events))
    (folder / "start.json").write_text(json.dumps(listed(node("n"))))
    return ["audit", "--complete", "--initial", str(folder / "start.json"), str(folder / "audit.log")]


def test_the_text(shell: Shell, tmp_path: Path) -> None:
    ran = shell(*written(tmp_path, OVERFULL))
    assert ran.code == 1
    told = flat(ran.out)
    assert told.startswith("S-CAP HIT The requests of")
    assert (
        "read 1 file: 6 lines, 6 audit events, 6 writes looked at, from 2026-01-01T00:00:00.000Z to 2026-01-01T00:00:02.200Z writes: nodes/status 1 at RequestResponse; pods 2 at RequestResponse; pods/binding 2 at RequestResponse; pods/status 1 at RequestResponse 5 properties: 1 HIT"
        in told
    )
    assert f"{TIME}: {WORDS} (sent by system:kube-scheduler)" in told
    assert told.endswith("5 properties: 1 HIT, 4 EXCLUDED.")
    assert "s3cret" not in ran.out


def test_exit_codes(shell: Shell, tmp_path: Path) -> None:
    arguments = written(tmp_path, CLEAN)
    assert shell(*arguments).code == 0
    assert shell("audit", arguments[-1]).code == 3
    assert shell("audit", arguments[-1], "--property", "S-CAP").out.endswith("1 property: 1 NOT EXCLUDED.\n")
    events = [*CLEAN, created("z", 1.9, "2"), bound("z", "n", 1.95)]
    (tmp_path / "audit.log").write_text(lines(events))
    ran = shell("audit", arguments[-1])
    assert ran.code == 3
    assert ran.out.startswith("S-CAP POSSIBLE\n")
    assert "  - in some order of what the log has, a node is overfull (" in ran.out
    assert "What would decide the open answers:\n  - --initial FILE: what" in ran.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "name audit logs, such as audit.log, or - for the standard input"),
        (["x.log", "--policy"], "--policy prints a policy and reads no log: leave out one of the two"),
        (
            ["x.log", "--release", "1.36.0"],
            "--release is the scheduler of the races that explain: add --explain, or leave it out",
        ),
        (["-", "-f", "-"], "-: the standard input can be read only once: name it once"),
        (["none.log"], "none.log: no such file: name an audit log, or - for the standard input"),
        (["x.log", "--since", "noon"], "--since: `noon` is no time: write for example 2026-02-01T10:00:00Z"),
        (
            ["x.log", "--since", "2026-01-01T00:00:05Z", "--until", "2026-01-01T00:00:01Z"],
            "--since 2026-01-01T00:00:05.000Z is later than --until 2026-01-01T00:00:01.000Z: write the earlier time as --since",
        ),
        (
            ["x.log", "--clock-skew", "much"],
            "--clock-skew: `much` is not a duration: use for example 50ms or 2s, or 0",
        ),
        (
            ["x.log", "--property", "S-NOM"],
            "--property S-NOM: a log of the API cannot answer it; known: S-CAP, S-COND, S-AFF, A-TWICE, A-FLUSH, A-LEASE, S-DEV",
        ),
        (
            ["x.log", "--initial", "x.log"],
            "--initial x.log: not what `kubectl get nodes,pods -A -o json` prints: write it to a file with that command",
        ),
    ],
)
def test_mistakes_get_one_line(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.log").write_text("hello\n")
    ran = shell("audit", *arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")


def test_what_the_log_does_not_cover(shell: Shell, tmp_path: Path) -> None:
    arguments = written(tmp_path, CLEAN)
    assert shell(*arguments, "--since", "2026-01-01T00:00:01Z").code == 0
    later = shell(*arguments, "--since", "2030-01-01T00:00:00Z", "--property", "S-CAP")
    assert later.code == 3
    assert (
        "- no line is of what is asked about: the lines are from 2026-01-01T00:00:00.000Z to 2026-01-01T00:00:01.500Z"
        in flat(later.out)
    )
    typo = shell(*arguments, "--namespace", "defualt")
    assert (typo.code, typo.out, typo.err) == (
        2,
        "",
        "podrace: --namespace defualt: nothing is of it, neither in the log nor in --initial; did you mean `default`? (known: default)\n",
    )


def test_a_pipe(tmp_path: Path) -> None:
    *_, log = written(tmp_path, OVERFULL)
    command = f"cat {log} | podrace audit -f - --complete --property S-CAP || gzip -c {log} | podrace audit - --complete --property S-CAP"
    said = run_commands(command, tmp_path, 1)
    assert said.count("1 property: 1 HIT.") == 2


def test_the_policy_is_printed(shell: Shell) -> None:
    ran = shell("audit", "--policy")
    assert ran.code == 0
    assert "kind: Policy" in ran.out
    assert "secrets" not in ran.out


def test_json_and_python_say_the_same(shell: Shell, tmp_path: Path) -> None:
    arguments = written(tmp_path, OVERFULL)
    document = json.loads(shell(*arguments, "-o", "json").out)
    assert [(a["property"], a["verdict"]) for a in document["answers"]][:2] == [
        ("S-CAP", "HIT"),
        ("S-COND", "EXCLUDED"),
    ]
    report = audit(arguments[-1], initial=arguments[-2], complete=True, property="S-CAP")
    assert report.answers[0].hits[0].words == document["answers"][0]["hits"][0]["words"] == WORDS
    with pytest.raises(UsageProblem, match=r"^since: `noon` is no time"):
        audit(arguments[-1], since="noon")


def test_the_page_draws_who_was_on_the_node(shell: Shell, tmp_path: Path) -> None:
    page = shell(*written(tmp_path, OVERFULL), "-o", "html").out
    assert page.count('class="bar"') == 1
    assert page.count('class="bar over"') == 1
    assert "n: 2500m asked for of 2 cpu" in page
    assert "s3cret" not in page


HOSTILE = "\x1b]0;title\x07<script>alert(1)</script>::error::x"


@pytest.mark.parametrize("form", ["text", "json", "html", "markdown"])
def test_names_are_only_read(shell: Shell, tmp_path: Path, form: str) -> None:
    """Names that are forged do nothing to a terminal, a page or a CI service."""
    user = f"{HOSTILE}\n::error::owned"
    events = [
        event("create", "nodes", HOSTILE, 0.1, code=201, response=node(HOSTILE, "1")),
        seen("n", 0.2), created("a", 1), bound("a", HOSTILE, 1.2, user=user), created("b", 2), bound("b", HOSTILE, 2.2, user=user),
    ]  # fmt: skip
    ran = shell(*written(tmp_path, events), "-o", form)
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "\x07" not in ran.out
    assert "\n::error::" not in ran.out
    assert form in ("text", "json") or "<script>alert" not in ran.out
    assert "Traceback" not in ran.err


def test_a_name_of_a_megabyte(shell: Shell, tmp_path: Path) -> None:
    name = "x" * (1 << 20)
    events = [seen("n", 0), created(name, 1, "2"), bound(name, "n", 1.2), *both("b", 2)]
    ran = shell(*written(tmp_path, events))
    assert ran.code == 1
    assert len(ran.out) < 10_000


def test_every_form_in_a_directory(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    assert shell(*written(tmp_path, OVERFULL), "--report", str(folder)).code == 1
    assert sorted(path.name for path in folder.iterdir()) == [
        "report.html",
        "report.json",
        "summary.md",
    ]
    assert json.loads((folder / "report.json").read_text())["answers"][0]["verdict"] == "HIT"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    refused = shell(*written(tmp_path, OVERFULL), "--report", str(tmp_path / "other"))
    assert (refused.code, refused.out) == (2, "")
    assert "holds other things (`notes.txt`): name a new directory" in refused.err


def test_nothing_of_an_earlier_report_stays(shell: Shell, tmp_path: Path) -> None:
    """Of what `check` wrote into the directory, the summary is another one and no counterexample is left."""
    folder = tmp_path / "report"
    assert (
        shell("check", "72124", "--release", "1.13.0", "--property", "S-NOMVIS", "--report", str(folder)).code
        == 1
    )
    assert list((folder / "counterexamples").iterdir())
    assert shell(*written(tmp_path, OVERFULL), "--report", str(folder)).code == 1
    assert (folder / "summary.md").read_text().startswith("# podrace audit\n")
    assert list((folder / "counterexamples").iterdir()) == []


def test_markdown(shell: Shell, tmp_path: Path) -> None:
    ran = shell(*written(tmp_path, OVERFULL), "-o", "markdown")
    first, *rest = ran.out.split("\n\n")
    assert (ran.code, first) == (1, "# podrace audit")
    assert rest[0].splitlines()[2].startswith("| ❌ | S-CAP | HIT | The requests of")
    assert rest[1:3] == ["## ❌ S-CAP HIT", f"- {TIME}: {WORDS}"]
    assert rest[-1].startswith("> read 1 file: 6 lines")


def test_following_ends_with_all_answers(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("podrace.cli.commands.look.audit.time.sleep", interrupted)
    ran = shell(*written(tmp_path, OVERFULL), "--follow")
    assert ran.code == 1
    assert f"S-CAP HIT {TIME}: {WORDS}\n" in ran.err
    assert flat(ran.out).endswith("5 properties: 1 HIT, 4 EXCLUDED.")


def test_a_test_can_expect_that_nothing_is_broken(tmp_path: Path) -> None:
    *_, start, log = written(tmp_path, OVERFULL)
    with pytest.raises(Broken, match=f"^S-CAP HIT: {TIME}: {WORDS}\n") as found:
        expect_kept(log, initial=start, complete=True)
    assert found.value.report.answers[0].verdict == "HIT"
    *_, start, log = written(tmp_path, CLEAN)
    assert expect_kept(log, initial=start, complete=True, excluded=True).answers[0].verdict == "EXCLUDED"
    assert expect_kept(log, initial=start).answers[0].verdict == "NOT EXCLUDED"
    with pytest.raises(Broken, match=r"^S-CAP NOT EXCLUDED: "):
        expect_kept(log, initial=start, excluded=True)


def test_events_alone_are_no_audit_log(shell: Shell, tmp_path: Path) -> None:
    said = {
        "apiVersion": "v1", "kind": "Event", "involvedObject": {"kind": "Pod", "namespace": "d", "name": "p"},
        "reason": "FailedScheduling", "lastTimestamp": "2026-11-01T10:00:00Z",
    }  # fmt: skip
    file = tmp_path / "events.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [said]}))
    ran = shell("audit", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"podrace: {file}: no audit event in 1 line (Events about pods, as `kubectl get events` prints them: 1): "
        "name a log that the API server writes to --audit-log-path\n"
    )
    *_, log = written(tmp_path, CLEAN)
    assert shell("audit", log, str(file)).code == 3


def test_a_log_without_bodies_says_which_levels_are_needed(shell: Shell, tmp_path: Path) -> None:
    needed = "Every write in this log is at level Metadata"
    bare = [{k: v for k, v in e.items() if k not in ("requestObject", "responseObject")} for e in CLEAN]
    ran = shell(*written(tmp_path, [{**e, "level": "Metadata"} for e in bare]))
    assert (ran.code, ran.out.startswith(needed)) == (3, True)
    assert "- bodies of pods: log them at level RequestResponse (`podrace audit --policy`): S-CAP" in flat(ran.out)  # fmt: skip
    assert "- bodies of Bindings: log them at level Request (`podrace audit --policy`): S-CAP" in flat(
        ran.out
    )
    assert needed not in shell(*written(tmp_path, CLEAN)).out
