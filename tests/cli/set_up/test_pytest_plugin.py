"""The plug-in for pytest, used by a test suite of its own as a user would, and the Python API."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from podrace.api import NotAsExpected, UsageProblem, check, expect, text_of
from podrace.cli.commands.set_up.init import starter_text
from podrace.model.language import Expr, any_of
from podrace.properties import Property
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import lines, listed, node, running
from tests.cli.helpers import TINY

PAGE = (Path(__file__).parents[3] / "docs" / "pytest.md").read_text(encoding="utf-8")

SUITE = """
import pytest


def test_fails(podrace):
    podrace.check("starter.yaml", release="1.13.0", property="S-NOM")


def test_undecided(podrace):
    podrace.check("starter.yaml", release="1.13.0", property="S-NOM", max_states=10)


def test_unknown(podrace):
    podrace.check("starter.yaml", release="1.99")


def test_wrong_length(podrace):
    podrace.violates("starter.yaml", release="1.13.0", property="S-NOM", steps=16)


def test_ignored(podrace):
    podrace.check("ignoring.yaml")


@pytest.mark.podrace("tiny.yaml", release=["1.13.0", "1.19.0"], with_fix=[(), "72259"])
class TestMany:
    def test_holds(self, podrace):
        (finding,) = podrace.check()
        assert finding.property == "S-CAP"

    @pytest.mark.podrace(property="S-NOM")
    def test_of_another_property(self, podrace):
        (finding,) = podrace.check()
        assert finding.property == "S-NOM"
"""


def run(folder: Path, suite: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(suite)
    (folder / "starter.yaml").write_text(starter_text())
    (folder / "tiny.yaml").write_text(TINY)
    (folder / "ignoring.yaml").write_text(TINY + "ignore: {S-CAP: until the ticket is closed}\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-q",
        "-rA",
        *arguments,
    ]
    environment = {**os.environ, "COLUMNS": "300", "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [*command, "test_it.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("suite"), SUITE).stdout


@pytest.mark.ci
def test_outcomes(ran: str) -> None:
    failed = re.findall(r"^FAILED test_it.py::(\S+)", ran, re.M)
    passed = re.findall(r"^PASSED test_it.py::TestMany::(\S+)", ran, re.M)
    assert failed == ["test_fails", "test_undecided", "test_unknown", "test_wrong_length"]
    cases = ["1.13.0", "1.13.0+72259", "1.19.0", "1.19.0+72259"]
    assert passed == [
        f"{name}[{case}]" for name in ("test_holds", "test_of_another_property") for case in cases
    ]
    assert re.search(
        r"^SKIPPED \[1\] .*: S-CAP: Ignored, not looked at: until the ticket is closed\.$", ran, re.M
    )


def test_the_counterexample_is_the_message(ran: str) -> None:
    section = ran.split("_ test_fails _", 1)[1].split("_ test_undecided _", 1)[0]
    assert "starter, 1.13.0: S-NOM: Violated after 17 steps, and no run is shorter" in section
    assert "E         What happens\n" in section
    assert re.search(
        r"^E +17\. The scheduler assumes other on n1: in its cache the pod is there", section, re.M
    )
    assert "pytest_plugin.py" not in section  # the traceback ends in the test


def test_mistakes_are_one_line(ran: str) -> None:
    section = ran.split("_ test_unknown _", 1)[1].split("_ test_wrong_length _", 1)[0]
    assert "podrace: unknown release `1.99`; the nearest: 1.37.2; " in section
    assert "Expected: VIOLATED after 16 steps." in ran


def test_an_unknown_keyword_is_refused(tmp_path: Path) -> None:
    suite = "import pytest\n@pytest.mark.podrace('72124', relase='1.13.0')\ndef test_it(podrace): podrace.check()\n"
    done = run(tmp_path, suite, "--strict-markers")
    assert done.returncode not in (0, 1)
    assert "pytest.mark.podrace has no `relase`; known: release, with_fix, " in done.stdout + done.stderr


OBJECTS = """
import pytest


def test_a_dump_beside_the_test(podrace):
    (finding,) = podrace.violates(filename="cluster.yaml", release="1.13.0", property="S-NOMVIS", steps=20)
    version, cluster = finding.about[:2]
    assert version == "version 1.37.0, by the newest kubelet; podrace checks 1.13.0, as --release says"
    assert cluster.startswith("cluster: 3 nodes of 2 kinds, 9 bound and 2 waiting pods of ")


@pytest.mark.podrace(filename=["cluster.yaml"], property="S-NOMVIS", release=["1.34.0", "1.13.0"])
def test_of_releases(podrace):
    podrace.check(focus="shop/payment-gtnln6swm-jjv7b")


def test_without_objects(podrace):
    podrace.check("tiny.yaml", pods=4)
"""


def test_objects_of_a_cluster(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "cluster.yaml").write_text(
        (Path(__file__).parents[3] / "docs" / "cluster.yaml").read_text()
    )
    out = run(tmp_path / "sub", OBJECTS, "--rootdir=..").stdout
    assert re.findall(r"^PASSED \S+::(\S+)", out, re.M) == [
        "test_a_dump_beside_the_test",
        "test_of_releases[1.34.0]",
    ]
    assert re.findall(r"^FAILED \S+::(\S+)", out, re.M) == [
        "test_of_releases[1.13.0]",
        "test_without_objects",
    ]
    assert "cluster, 1.13.0: S-NOMVIS: Violated after 20 steps" in out
    assert (
        "podrace: recursive, strict, pods, nodes, focus and controllers are about Kubernetes objects" in out
    )


CASES = """
import pytest


@pytest.fixture
def podrace(podrace, monkeypatch):
    asked = []
    monkeypatch.setattr("podrace.api.expect", lambda verdict, *names, **options: asked.append(options) or [])
    yield podrace
    print("ASKED", asked)


@pytest.mark.podrace("tiny.yaml", release=["1.13.0", "1.19.0"], with_fix=["72259", "77990"])
def test_one_set(podrace):
    podrace.check()


@pytest.mark.podrace("tiny.yaml", release="1.13.0", with_fix=[["72259"], ["72259", "77990"]])
def test_two_sets(podrace):
    podrace.check()


@pytest.mark.podrace("tiny.yaml", release="1.13.0", with_fix="72259", steps=3)
def test_one_case(podrace):
    podrace.violates()


def test_unknown_in_a_call(podrace):
    podrace.check("tiny.yaml", relase="1.13.0")


def test_cases_in_a_call(podrace):
    podrace.violates("tiny.yaml", release=["1.13.0", "1.14.0"])
"""


def test_marker_and_call_use_the_same_words(tmp_path: Path) -> None:
    out = run(tmp_path, CASES).stdout
    assert re.findall(r"^PASSED test_it.py::(\S+)", out, re.M) == [
        "test_one_set[1.13.0+72259+77990]", "test_one_set[1.19.0+72259+77990]", "test_two_sets[1.13.0+72259]",
        "test_two_sets[1.13.0+72259+77990]", "test_one_case",
    ]  # fmt: skip
    assert [asked for asked in re.findall(r"^ASKED (.*)", out, re.M) if asked != "[]"] == [
        "[{'release': '1.13.0', 'with_fix': ('72259', '77990')}]",
        "[{'release': '1.19.0', 'with_fix': ('72259', '77990')}]",
        "[{'release': '1.13.0', 'with_fix': ('72259',)}]",
        "[{'release': '1.13.0', 'with_fix': ('72259', '77990')}]",
        "[{'release': '1.13.0', 'with_fix': '72259', 'steps': 3}]",
    ]
    assert re.findall(r"^FAILED test_it.py::\S+ - (.*)", out, re.M) == [
        (
            "Failed: podrace: podrace.check has no `relase`; known: release, with_fix, without_fix, gate, property, steps, "
            "max_states, max_memory, timeout, jobs, cache, filename, recursive, strict, pods, nodes, focus, controllers"
        ),
        "Failed: podrace: podrace.violates: `release` with several cases is for the marker: give one",
    ]


WRONG = """
import pytest


def test_steps(podrace):
    podrace.violates("72124", steps="15")


def test_a_fix(podrace):
    podrace.check("72124", with_fix=72259)


def test_fixes(podrace):
    podrace.check("72124", with_fix=("72259", 77990))


def test_a_release(podrace):
    podrace.check("72124", release=1.13)


def test_a_scenario(podrace):
    podrace.check(None)


@pytest.mark.podrace("72124", release=1.13, with_fix=[72259])
def test_marked(podrace):
    podrace.check()


@pytest.mark.podrace("72124", release=[1.13], with_fix=[(), 72259])
def test_cases(podrace):
    podrace.check()


def test_a_log(podrace):
    podrace.audit(5)


def test_a_dump(podrace):
    podrace.audit("x.log", initial=5)


def test_complete(podrace):
    podrace.audit("x.log", complete="no")


def test_an_option_of_audit(podrace):
    podrace.audit("x.log", complet=True)
"""


def test_wrong_values_are_one_line(tmp_path: Path) -> None:
    done = run(tmp_path, WRONG)
    assert "Error" not in done.stdout
    assert "During handling" not in done.stdout
    no_name = "is no text: write a name in quotes, or a list of such names"
    no_release = 'release: `1.13` is no text: write a release in quotes, such as "1.13"'
    assert re.findall(r"^FAILED test_it.py::(\S+) - Failed: podrace: (.*)", done.stdout, re.M) == [
        ("test_steps", "steps: `'15'` is no number of steps: write a whole number, such as 15"),
        ("test_a_fix", f"with_fix: `72259` {no_name}"),
        ("test_fixes", f"with_fix: `77990` {no_name}"),
        ("test_a_release", no_release),
        (
            "test_a_scenario",
            'scenarios: `None` is no scenario: write what `podrace races` lists, such as "72124", or the path of a YAML file',
        ),
        ("test_marked", no_release),
        ("test_cases[1.13]", no_release),
        ("test_cases[1.13+72259]", no_release),
        ("test_a_log", "logs: `5` is no file: write the path of an audit log"),
        (
            "test_a_dump",
            "initial: `5` is no file: write the path of what `kubectl get nodes,pods -A -o json` printed",
        ),
        ("test_complete", "complete: `'no'` is no truth value: write True or False"),
        (
            "test_an_option_of_audit",
            "podrace.audit has no `complet`; known: excluded, initial, complete, clock_skew, since, until, namespace, property",
        ),
    ]


IDLE = """
import pytest

@pytest.mark.podrace("72124", release="1.13.0", property="S-NOMVIS")
def test_no_fixture():
    pass

@pytest.mark.podrace("72124", release="1.13.0", property="S-NOMVIS")
def test_no_call(podrace):
    pass

@pytest.mark.podrace(release=["1.13.0", "1.19.0"])
class TestVaried:
    def test_of_one(self, podrace):
        podrace.check("72124", release="1.19.0")

    def test_helper(self):
        pass
"""


def test_a_marked_test_that_checks_nothing_fails(tmp_path: Path) -> None:
    done = run(tmp_path, IDLE)
    assert done.returncode == 1
    alone = "the marker alone checks nothing: take the fixture `podrace`, and call podrace.check() or podrace.violates()"
    varied = "the marker gives several cases of `release`, and this call the same for each: leave it out here"
    failed = re.findall(r"^FAILED \S+ - Failed: podrace: (.*)", done.stdout, re.M)
    assert sorted(failed) == sorted([alone, alone, varied, varied])
    assert re.findall("^PASSED .*::(.*)", done.stdout, re.M) == ["test_helper"]


def examples() -> list[str]:
    return re.findall(r"<!-- tested -->\n```python\n(.*?)```", PAGE, re.S)


@pytest.mark.ci
def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    suite, program = examples()
    done = run(tmp_path, suite)
    assert done.returncode == 0, done.stdout
    assert len(re.findall("^PASSED", done.stdout, re.M)) == 4
    exec(compile(program, "docs/pytest.md", "exec"), {})


class NobodyAssumed(Property):
    """No pod is ever assumed."""

    id = "MY-NONE"

    def holds(self) -> Expr:
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)


def test_the_api_takes_properties_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    own, known = check(tmp_path / "tiny.yaml", property=[NobodyAssumed, "S-CAP"])
    assert (own.property, own.verdict, known.verdict) == ("MY-NONE", "VIOLATED", "HOLDS")
    with pytest.raises(NotAsExpected) as caught:
        expect("holds", tmp_path / "tiny.yaml", property=[NobodyAssumed, "S-CAP"])
    assert [finding.verdict for finding in caught.value.findings] == ["VIOLATED", "HOLDS"]
    assert "The scheduler assumes p on n: " in str(caught.value)
    assert text_of([own]).startswith("tiny, 1.19.0: MY-NONE VIOLATED\n")
    assert "S-CAP" not in str(caught.value)


def test_the_api_refuses_what_makes_no_sense() -> None:
    for call, message in (
        (lambda: check(), "name a scenario"),
        (lambda: expect("maybe", "72124"), "verdict: `'maybe'` is no verdict to expect"),  # type: ignore[arg-type]
        (lambda: expect("holds", "72124", steps=1), "what holds has no counterexample"),
    ):
        with pytest.raises(UsageProblem, match=message):
            call()


LOGS = """
def test_broken(podrace):
    podrace.audit("overfull.log", initial="start.json", complete=True)


def test_kept(podrace):
    report = podrace.audit("clean.log", initial="start.json", complete=True, excluded=True)
    assert [answer.verdict for answer in report.answers].count("EXCLUDED") == 5


def test_of_no_file(podrace):
    podrace.audit("none.log")
"""


def test_logs_of_a_cluster(tmp_path: Path) -> None:
    clean = [seen("n", 0), *both("a", 1), running("a", "n", 1.5)]
    (tmp_path / "clean.log").write_text(lines(clean))
    (tmp_path / "overfull.log").write_text(lines([*clean, *both("b", 2, "1500m")]))
    (tmp_path / "start.json").write_text(json.dumps(listed(node("n"))))
    told = run(tmp_path, LOGS).stdout
    assert re.findall(r"^(FAILED|PASSED) test_it.py::(\S+)", told, re.M) == [
        ("PASSED", "test_kept"),
        ("FAILED", "test_broken"),
        ("FAILED", "test_of_no_file"),
    ]
    assert (
        "S-CAP HIT: 2026-01-01T00:00:02.200Z: n is overfull: 2500m of 2 cpu with default/a, default/b" in told
    )
    assert "podrace: none.log: no such file" in told
