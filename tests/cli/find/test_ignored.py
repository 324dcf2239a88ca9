"""What a scenario says is not to be looked at: reported with its reason in every form, never as holding."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from podrace.api import check as api_check
from podrace.scenarios import read_scenario
from tests.cli.compare.test_verify import HERE
from tests.cli.helpers import MINE, TINY, Shell, pretending
from tests.manifests.manifest_objects import objects, text_of

REASON = "known, see ticket 42"
FILE = TINY.replace("[S-CAP]", "[S-CAP, S-NOM]") + f"ignore: {{S-NOM: '{REASON}'}}\n"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(FILE)
    return Shell(capsys)


def test_it_is_not_searched_and_does_not_decide(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for verdict, code in (("HOLDS", 0), ("VIOLATED", 1), ("INCONCLUSIVE", 3)):
        with pretending(monkeypatch, verdict) as pretence:  # type: ignore[arg-type]
            assert shell("check", "tiny.yaml").code == code
        assert [run.property for run in pretence.runs] == ["S-CAP"]


def test_every_form_shows_the_reason(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch):
        out = {form: shell("check", "tiny.yaml", "-o", form).out for form in
               ("text", "json", "html", "junit", "sarif", "github", "markdown")}  # fmt: skip
    for form, text in out.items():
        assert REASON in text, form
    assert [f["verdict"] for f in json.loads(out["json"])] == ["HOLDS", "IGNORED"]
    suite = ElementTree.fromstring(out["junit"].partition("\n")[2])
    assert [case.find("skipped") is not None for case in suite.iter("testcase")] == [False, True]
    assert suite.attrib == {"name": "podrace", "tests": "2", "failures": "0", "errors": "0", "skipped": "1"}
    (result,) = json.loads(out["sarif"])["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("notApplicable", "none")
    assert result["suppressions"][0]["justification"] == f"Ignored, not looked at: {REASON}."
    assert out["github"].startswith("::notice file=tiny.yaml,line=4,title=tiny%2C 1.19.0%3A S-NOM IGNORED::")
    assert out["github"].endswith("podrace: 1 passed, 0 failed, 0 undecided, 1 ignored\n")
    assert "1 holding, 1 ignored." in out["html"]


def test_nothing_left_to_look_at_is_no_success(shell: Shell) -> None:
    ran = shell("check", "tiny.yaml", "--property", "S-NOM")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"podrace: nothing would be looked at, for all is ignored (S-NOM: {REASON}): name another property\n"
    )


COMPARING = (
    ("verify", str(HERE / "never_schedules.py"), "--release", "1.13.0", "--scenario", "tiny.yaml"),
    ("diff", "--before", "1.30.0", "--after", "1.31.0", "--scenario", "tiny.yaml"),
)


@pytest.mark.ci
@pytest.mark.parametrize("command", COMPARING, ids=lambda c: c[0])
@pytest.mark.usefixtures("searched_once")
def test_it_is_not_compared(shell: Shell, command: tuple[str, ...]) -> None:
    line = f"S-NOM in tiny: Ignored, not looked at: {REASON}."
    ran = shell(*command, "-o", "json")
    assert (ran.code, ran.err) == (1 if "verify" in command else 0, "")
    told = json.loads(ran.out)
    assert [pair["before"]["property"] for pair in told["pairs"]] == ["S-CAP"]
    assert list(told["outcomes"]) == ["S-CAP"]
    words = f"Ignored, not looked at: {REASON}."
    assert told["ignored"] == [{"scenario": "tiny", "property": "S-NOM", "words": words}]
    assert shell(*command).out.splitlines().count(line) == 1
    assert f"- {line}\n" in shell(*command, "-o", "markdown").out


def test_sets_of_changes_are_not_tried_for_it(shell: Shell) -> None:
    ran = shell(*COMPARING[0], "--minimal", "-o", "json")
    told = json.loads(ran.out)
    assert (ran.code, told["properties"], told["minimal"]) == (0, ["S-CAP"], [[]])
    assert [one["property"] for one in told["ignored"]] == ["S-NOM"]
    line = f"S-NOM in tiny: Ignored, not looked at: {REASON}."
    assert line in " ".join(shell(*COMPARING[0], "--minimal").out.split())


@pytest.mark.parametrize(
    "command",
    [
        *COMPARING, (*COMPARING[0], "--minimal"),
    ],
    ids=lambda c: f"{c[0]} {c[-1]}",
)  # fmt: skip
def test_nothing_left_to_look_at_is_no_success_of_any_command(shell: Shell, command: tuple[str, ...]) -> None:
    ran = shell(*command, "--property", "S-NOM")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: nothing would be looked at, for all is ignored (S-NOM: {REASON}): ")


def test_what_only_an_ignored_violation_brings_about_is_not_lost(shell: Shell, tmp_path: Path) -> None:
    """A patch that never schedules takes away what comes after a pod is assumed, and that is what MY-NONE forbids."""
    (tmp_path / "mine.py").write_text(MINE)
    patch = ("verify", str(HERE / "never_schedules.py"), "--release", "1.13.0", "--scenario", "tiny.yaml")
    lost = []
    for ignore, more in (
        ("", ()),
        ("ignore: {MY-NONE: known}\n", ("-P", "mine.py", "--property", "MY-NONE")),
    ):
        (tmp_path / "tiny.yaml").write_text(TINY + ignore)
        ran = shell(*patch, "--property", "S-CAP", *more, "-o", "json")
        lost.append([one["witness"] for one in json.loads(ran.out)["lost"] if one["witness"] == "p is bound"])
    assert lost == [["p is bound"], []]


def test_a_mistyped_property_is_not_ignored(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(FILE.replace("{S-NOM:", "{S-NM:"))
    assert shell("check", "tiny.yaml").err.startswith(
        "podrace: tiny.yaml:7: ignore.S-NM: unknown property `S-NM`; the nearest: S-NOM, S-RUN, S-NOMVIS, L-NOM, S-NOMLIVE; "
    )


PODS = """\
name: tiny
release: "1.19.0"
properties: [S-COND]
nodes: {n: {cpu: 2}}
pods:
  p: {cpu: 1, ignore: {S-COND: 'known, see ticket 42.'}}
  q: {cpu: 1}
scope: {pod_events: 1, flush: false}
"""


@pytest.mark.ci
@pytest.mark.usefixtures("searched_once")
def test_every_form_says_for_which_pod_it_is_ignored(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(PODS + "expect: {S-COND: holds}\n")
    forms = ("text", "json", "html", "junit", "sarif", "github", "markdown")
    out = {form: shell("check", "tiny.yaml", "-o", form).out for form in forms}
    for form, text in out.items():
        assert "Ignored, not looked at for: p (known, see ticket 42)." in " ".join(text.split()).replace(
            "\\", ""
        ), form
    (found,) = json.loads(out["json"])
    assert (found["verdict"], found["silenced"]) == ("HOLDS", {"p": "known, see ticket 42."})
    assert "not looked at for: p" in " ".join(shell("test", "tiny.yaml").out.split())
    assert api_check("tiny.yaml")[0].silenced == {"p": "known, see ticket 42."}


def test_a_property_ignored_for_every_pod_is_ignored(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(PODS.replace("q: {cpu: 1}", "q: {cpu: 1, ignore: {S-COND: too}}"))
    assert shell("check", "tiny.yaml").err == (
        "podrace: nothing would be looked at, for all is ignored (S-COND: p: known, see ticket 42.; q: too): "
        "name another property\n"
    )


OF_NO_POD = "S-CAP is not about single pods, so it cannot be ignored for one: ignore it for the whole file, in the section `ignore` at its top"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{S-COND: ''}", "pods.p.ignore.S-COND: expected the reason, as one line of at most 200 printable characters"),
        ("{S-COND: }", "pods.p.ignore.S-COND: expected the reason, as one line of text, not nothing"),
        ("[S-COND]", "pods.p.ignore: expected a mapping from properties to reasons, not a list"),
        ("{S-CND: x}", "pods.p.ignore.S-CND: unknown property `S-CND`; the nearest: S-COND, S-CONS, S-BIND, S-PLACED, S-RUN; "),
        ("{S-CAP: x}", f"pods.p.ignore.S-CAP: {OF_NO_POD}\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [("check",), ("verify", "125578", "--scenario")], ids=lambda c: str(c[0]))
def test_mistakes_in_pods(
    shell: Shell, tmp_path: Path, written: str, problem: str, command: tuple[str, ...]
) -> None:
    (tmp_path / "tiny.yaml").write_text(PODS.replace("{S-COND: 'known, see ticket 42.'}", written))
    ran = shell(*command, "tiny.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: tiny.yaml:6: {problem}")


def test_a_property_of_ones_own(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(PODS.replace("S-COND: 'known", "MY-NONE: 'known"))
    (tmp_path / "mine.py").write_text(MINE)
    asked = ("check", "tiny.yaml", "-P", "mine.py", "--property", "MY-NONE")
    assert "MY-NONE is not about single pods" in shell(*asked).err
    told = MINE.replace('id = "MY-NONE"\n', 'id = "MY-NONE"\n    concerns = "the pod"\n')
    (tmp_path / "mine.py").write_text(told.replace("self.pods", "self.subjects"))
    ran = shell(*asked, "-v")
    assert ran.code == 1
    assert [text for text in ("p is assumed", "q is assumed") if f"● {text}" in ran.out][-1] == "q is assumed"
    assert "not looked at for: p" in " ".join(ran.out.split())


def annotated(*names: str) -> str:
    """Manifests of which these Pods, or pod templates, have the annotation."""
    some = objects("node", "class", "namespace", "victim", "preemptor", "rival")
    for made in some:
        made.get("spec", {}).pop("overhead", None)  # which 1.13 does not heed
        if made["metadata"]["name"] in names:
            made["metadata"]["annotations"] = {
                "podrace.io/ignore": f"S-NOMVIS: {REASON}\nS-STUCK: {REASON}",
                "x": "y",
            }
    return text_of(some)


@pytest.mark.ci
def test_the_annotation_of_manifests_does_the_same(shell: Shell, tmp_path: Path) -> None:
    asked = ("check", "-f", "m.yaml", "--release", "1.13.0", "--property", "S-NOMVIS")
    (tmp_path / "m.yaml").write_text(annotated())
    assert shell(*asked).code == 1
    (tmp_path / "m.yaml").write_text(annotated("api-1"))  # the other preemptor is harmed as well
    ran = shell(*asked, "--write-scenario", "kept.yaml", "-o", "json")
    assert (ran.code, json.loads(ran.out)[0]["silenced"]) == (1, {"shop/api-1": REASON})
    assert read_scenario(tmp_path / "kept.yaml").silenced["S-STUCK"] == {"shop/api-1": REASON}
    (tmp_path / "m.yaml").write_text(annotated("api-1", "search-1"))
    assert shell(*asked).code == 0
    (tmp_path / "m.yaml").write_text(annotated("api-1", "n1"))
    note = "note: podrace.io/ignore counts on Pods and in the pod templates of workloads only (Node/n1 at m.yaml:4)\n"
    assert note in shell(*asked).err
