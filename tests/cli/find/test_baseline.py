"""`--baseline`: violations that are known pass, with a reason and until an end; what is new or worse does not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from podrace.analysis.request.baseline import Entry, held_to_baseline, read_baseline, text_of
from podrace.model.environment.cluster.scope import SHORT_ACTORS
from podrace.properties import PROPERTIES
from podrace.reports.ci_outcome import Style
from podrace.reports.document import Known
from podrace.scenarios.tables.baseline import schema_of_baselines
from tests.cli.helpers import Shell, flat
from tests.profiles import examples
from tests.reports.samples import ALL

RACE = """\
name: overfull
release: "1.36.3"
nodes: {n: {cpu: 1}}
pods: {p: {cpu: 1}}
expect: {MY-NONE: holds, S-UNIQ: holds}
"""
KNOWN = """\
known:
- scenario: overfull
  property: MY-NONE
  reason: nobody minds
  until: "1.38"
"""
OWN = '''\
from podrace.model.language import any_of
from podrace.properties import Property


class NobodyAssumed(Property):
    """No pod is ever assumed."""

    id = "MY-NONE"

    def holds(self):
        return ~any_of(self.cache.is_assumed(p) for p in self.pods)
'''
TEST = ("test", "race.yaml", "-P", "mine.py")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("race.yaml").write_text(RACE)
    Path("mine.py").write_text(OWN)
    Path("known.yaml").write_text(KNOWN)
    return tmp_path


def test_a_known_violation_passes_and_is_listed(shell: Shell, here: Path) -> None:
    assert shell(*TEST).code == 1
    ran = shell(*TEST, "--baseline", "known.yaml")
    note = "known.yaml:2: MY-NONE in overfull is known until 1.38: nobody minds"
    assert (ran.code, ran.err) == (0, "")
    assert "known line 5: 1.36.3: MY-NONE" in ran.out
    assert f"note: {note}" in ran.out
    assert ran.out.endswith("1 file: 1 passed, 0 failed, 0 undecided, 1 known\n")
    mine, _ = json.loads(shell(*TEST, "--baseline", "known.yaml", "-o", "json").out)
    assert mine["known"] == {"reason": "nobody minds", "until": "1.38", "place": "known.yaml:2"}
    for form, words in (
        ("junit", f'<skipped message="Violated after 4 steps, and no run is shorter (5 states, 4 transitions, depth 4 explored). Expected: HOLDS.; {note}" />'),
        ("github", f"%0Anote: {note}\npodrace: 1 passed, 0 failed, 0 undecided, 1 known\n"),
        ("markdown", "📌 overfull, 1.36.3: MY-NONE VIOLATED (known)"),
    ):  # fmt: skip
        ran = shell(*TEST, "--baseline", "known.yaml", "-o", form)
        assert ran.code == 0
        assert words in ran.out.replace("_", ""), ran.out


def test_check_takes_one_too(shell: Shell, here: Path) -> None:
    line = ("check", "race.yaml", "-P", "mine.py", "--property", "MY-NONE", "--baseline", "known.yaml")
    ran = shell(*line)
    assert ran.code == 0
    assert "1 verdict: 1 VIOLATED (known)." in ran.out
    (result,) = json.loads(shell(*line, "-o", "sarif").out)["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("fail", "note")
    assert result["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "nobody minds"}
    ]


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ('until: "1.36"', "known.yaml:2: MY-NONE in overfull was known until 1.36, which is past: mend it, or give it another end"),
        ("until: 2020-02-29", "known.yaml:2: MY-NONE in overfull was known until 2020-02-29, which is past: mend it, or give it another end"),
        ('until: "1.38"\n  steps: 6', "known.yaml:2: MY-NONE in overfull became worse: violated after 4 steps, known after 6"),
    ],
)  # fmt: skip
def test_what_is_over_or_worse_fails(shell: Shell, here: Path, line: str, note: str) -> None:
    Path("known.yaml").write_text(KNOWN.replace('until: "1.38"', line))
    ran = shell(*TEST, "--baseline", "known.yaml")
    assert (ran.code, f"note: {note}" in flat(ran.out)) == (1, True)


def test_what_no_longer_occurs_and_what_took_no_part_is_told(shell: Shell, here: Path) -> None:
    Path("known.yaml").write_text(
        KNOWN
        + KNOWN.removeprefix("known:\n").replace("MY-NONE", "s-uniq")
        + KNOWN.removeprefix("known:\n").replace("overfull", "elsewhere")
    )
    ran = shell(*TEST, "--baseline", "known.yaml")
    assert ran.code == 0
    assert "note: known.yaml:6: S-UNIQ in overfull is known and no longer violated on 1.36.3: take it out of the baseline" in flat(ran.out)  # fmt: skip
    assert ran.err == "1 known violation took no part: known.yaml:10: MY-NONE in elsewhere\n"


def test_another_version_is_new(shell: Shell, here: Path) -> None:
    Path("known.yaml").write_text(KNOWN + "  release: 1.36.0\n")
    assert shell(*TEST, "--baseline", "known.yaml").code == 1
    Path("known.yaml").write_text(KNOWN + "  release: v1.36.3\n")
    assert shell(*TEST, "--baseline", "known.yaml").code == 0


def test_a_baseline_is_written_and_keeps_its_reasons(shell: Shell, here: Path) -> None:
    ran = shell(*TEST, "--write-baseline", "new.yaml")
    assert ran.code == 1
    assert ran.err == "wrote new.yaml: 1 known violation, 1 without a reason: say why each is accepted\n"
    ran = shell(*TEST, "--baseline", "new.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: new.yaml:7: known[0].reason: it is empty: say why the violation is accepted\n"
    text = Path("new.yaml").read_text().replace('reason: ""', 'reason: "nobody minds"')
    assert yaml.safe_load(text) == {
        "known": [{"scenario": "overfull", "property": "MY-NONE", "release": "1.36.3", "steps": 4, "reason": "nobody minds", "until": "1.37"}]
    }  # fmt: skip
    Path("new.yaml").write_text(text)
    ran = shell(*TEST, "--baseline", "new.yaml", "--write-baseline", "new.yaml")
    assert (ran.code, ran.err) == (0, "wrote new.yaml: 1 known violation\n")
    assert Path("new.yaml").read_text() == text


def test_a_question_is_no_known_violation(shell: Shell, here: Path) -> None:
    """An entry `ASK` was written that no baseline may have, and that would have excused every question of the scenario."""
    asked = 'ask: [{question: ["scheduler.pop(p)"], answer: impossible}]\n'
    Path("race.yaml").write_text(RACE + asked)
    ran = shell(*TEST, "--write-baseline", "new.yaml")
    assert (ran.code, [e["property"] for e in yaml.safe_load(Path("new.yaml").read_text())["known"]]) == (1, ["MY-NONE"])  # fmt: skip
    assert ran.err.endswith("\n1 question of `ask` failed: a baseline has no questions, so change the expected answer instead\n")  # fmt: skip
    Path("new.yaml").write_text(Path("new.yaml").read_text().replace('reason: ""', "reason: ok"))
    ran = shell(*TEST, "--baseline", "new.yaml")
    assert (ran.code, ran.out.endswith("1 file: 1 passed, 1 failed, 0 undecided, 1 known\n")) == (1, True)


def test_what_holds_as_nothing_tests_it_stays_in_the_baseline(shell: Shell, here: Path) -> None:
    """A scenario that was changed so that no run tests the property mends nothing."""
    Path("known.yaml").write_text(KNOWN.replace("MY-NONE", "S-NOM"))
    ran = shell("check", "race.yaml", "--property", "S-NOM", "--baseline", "known.yaml")
    note = (
        "known.yaml:2: S-NOM in overfull is known and no longer violated on 1.36.3: no run tests it any more"
    )
    assert (ran.code, note in flat(ran.out)) == (0, True), ran.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "--baseline: there is no file `known.yaml`: `--write-baseline known.yaml` writes what is violated now"),
        ("- a", "known.yaml:1: expected a mapping with `known`, a list of violations, not a list"),
        ("knwon: []", "known.yaml:1: unknown field `knwon`; did you mean `known`? (known: known)"),
        ("known: {}", "known.yaml:1: known: expected a list of violations, not a mapping"),
        ("known: [{property: S-CAP, reason: r, until: '1.38'}]", "known.yaml:1: known[0]: `scenario` is missing: name the scenario, as reports call it"),
        ("known: [{scenario: a, property: S-CAP, until: '1.38'}]", "known.yaml:1: known[0]: `reason` is missing: say why it is accepted"),
        ("known: [{scenario: a, property: S-CAP, reason: r}]", "known.yaml:1: known[0]: `until` is missing: write a date such as 2027-03-31, or a version such as 1.38"),
        (KNOWN.replace("1.38", "soon"), "known.yaml:5: known[0].until: expected a date such as 2027-03-31, or a version such as 1.38, not `soon`"),
        (KNOWN.replace("1.38", "2027-02-30"), "known.yaml:5: known[0].until: expected a date such as 2027-03-31, or a version such as 1.38, not `2027-02-30`"),
        (KNOWN + "  release: 1.7", "known.yaml:6: known[0].release: unknown release `1.7`; the nearest: 1.8.0; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"),
        (KNOWN + "  time: soon", "known.yaml:6: known[0].time: there is no such scale of time: `soon`; known: any, scales"),
        (KNOWN + "  slow: [pod informer]", "known.yaml:6: known[0].slow: with `time: any` every actor may be slow: add `time: scales`, or remove this"),
        (KNOWN + "  time: scales\n  slow: [x]", f"known.yaml:7: known[0].slow[0]: there is no such actor: `x`; known: {', '.join(SHORT_ACTORS)}"),
        (KNOWN + "  steps: few", "known.yaml:6: known[0].steps: expected a whole number from 0 to 100000, not `few`"),
        (KNOWN.replace("MY-NONE", "S-QQ"), f"known.yaml:3: known[0].property: unknown property `S-QQ`; the nearest: S-UNIQ, S-QUOTA, S-QUORUM, S-PV; `podrace properties` lists all {len(PROPERTIES) + 1}"),
        (KNOWN + KNOWN.removeprefix("known:\n"), "known.yaml:6: known[1]: the same violation is listed at known.yaml:2: remove one of them"),
    ],
)  # fmt: skip
def test_mistakes(shell: Shell, here: Path, text: str | None, message: str) -> None:
    Path("known.yaml").unlink()
    if text is not None:
        Path("known.yaml").write_text(text)
    ran = shell(*TEST, "--baseline", "known.yaml")
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {message}\n")


def test_files_are_looked_at_before_the_search(shell: Shell, here: Path) -> None:
    ran = shell(*TEST, "--write-baseline", "nowhere/new.yaml")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: --write-baseline: cannot write `nowhere/new.yaml`: there is no directory `nowhere`\n"  # fmt: skip
    ran = shell("check", "race.yaml", "--affected", "--baseline", "known.yaml")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --affected asks all versions: leave out --baseline and --write-baseline\n",
    )


ENTRIES = st.builds(
    Entry,
    scenario=st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\u2028\u2029\x85"), min_size=1),
    property=st.sampled_from(sorted(PROPERTIES)),
    label=st.sampled_from(["", "1.36.3", "1.13.0 + 72259", "1.34.4 SchedulerAsyncPreemption=false"]),
    steps=st.none() | st.integers(0, 1000),
    reason=st.sampled_from(["upstream's own", "1.5", "true", "a: b # c", '"quoted" \\ and \u00e9']),
    until=st.sampled_from(["1.38", "2027-03-31", "1.40"]),
    time=st.just("any"),
) | st.builds(
    Entry,
    scenario=st.just("a"), property=st.just("S-CAP"), label=st.just(""), steps=st.none(), reason=st.just("r"), until=st.just("1.38"),
    time=st.just("scales"), fair_flush=st.booleans(), slow=st.lists(st.sampled_from(SHORT_ACTORS), unique=True).map(lambda some: tuple(sorted(some))),
)  # fmt: skip


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(ENTRIES, unique_by=lambda e: (e.scenario, e.property, e.label, e.time_of)))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]) -> None:
    file = tmp_path_factory.mktemp("baseline") / "known.yaml"
    file.write_text(text_of(entries), encoding="utf-8")
    assert list(read_baseline(file)) == entries
    Draft202012Validator(schema_of_baselines()).validate(yaml.safe_load(re.sub(r"until: .*", "until: x", file.read_text("utf-8"))))  # fmt: skip


FLUSHED = """\
name: parked
release: "1.36.3"
nodes: {n: {cpu: 1}}
pods: {p: {cpu: 1}}
scope: {flush: true}
"""


ASSUMED = ((), ("--time", "scales"), ("--time", "scales", "--slow", "pod informer"), ("--fair-flush",))


@pytest.mark.parametrize("recorded", ASSUMED)
def test_what_is_known_with_one_time_fails_with_another(
    shell: Shell, here: Path, recorded: tuple[str, ...]
) -> None:
    """Until now an entry said nothing of the time, and so excused what no time of its own has."""
    Path("race.yaml").write_text(FLUSHED)
    line = ("check", "race.yaml", "-P", "mine.py", "--property", "MY-NONE", "--closing", "0")
    assert shell(*line, *recorded, "--write-baseline", "known.yaml").code == 1
    text = Path("known.yaml").read_text().replace('reason: ""', "reason: r")
    lines = {"time: scales": "--time", "slow: [pod informer]": "--slow", "fair_flush: true": "--fair-flush"}
    assert [words for words in lines if words in text] == [w for w, o in lines.items() if o in recorded]
    Path("known.yaml").write_text(text)
    for asked in ASSUMED:
        ran = shell(*line, *asked, "--baseline", "known.yaml")
        assert (ran.code, "VIOLATED (known)" in ran.out) == ((0, True) if asked == recorded else (1, False))
        assert ("took no part" in ran.err) == (asked != recorded)


def test_only_violations_are_ever_known_and_only_until_their_end() -> None:
    """Whatever the entries say, no verdict moves, and nothing undecided passes."""
    day = date(2026, 11, 29)
    for finding in ALL:
        entry = Entry(finding.scenario, finding.property, "", None, "r", day.isoformat(), "k.yaml:2")
        for today, entries in ((day, [entry]), (day + timedelta(1), [entry]), (day, [replace(entry, steps=99)]), (day, [])):  # fmt: skip
            (held,) = held_to_baseline([finding], entries, Style(), today)
            assert held.verdict == finding.verdict
            fits = today == day and bool(entries) and entries[0].steps is None
            expected = fits and finding.verdict == "VIOLATED" and Style().outcome(finding) == "failed"
            assert (held.known == Known("r", "2026-11-29", "k.yaml:2")) == expected
            assert Style().outcome(held) == ("known" if expected else Style().outcome(finding))


DUMP = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n-1}
  status: {allocatable: {cpu: "2", pods: "10"}, nodeInfo: {kubeletVersion: v1.34.1}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web-abcde, namespace: d, uid: a}
  spec: {priority: 0, containers: [{name: c, resources: {requests: {cpu: "2"}}}], nodeName: n-1}
  status: {phase: Running}
- apiVersion: v1
  kind: Pod
  metadata: {name: db-0, namespace: d, uid: b}
  spec: {priority: 100, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
  status: {phase: Pending}
"""
ASKED = ("-P", "mine.py", "--property", "MY-NONE", "--closing", "0")


def test_a_dump_is_known_by_its_shape(shell: Shell, here: Path) -> None:
    """Not by the name of its file, and not by the names in it; another cluster in the same file is new."""
    Path("dump.yaml").write_text(DUMP)
    assert shell("check", "-f", "dump.yaml", *ASKED, "--write-baseline", "new.yaml").code == 1
    Path("new.yaml").write_text(Path("new.yaml").read_text().replace('reason: ""', "reason: ok"))
    names = DUMP.replace("web-abcde", "web-fghij").replace("n-1", "zone-b").replace("db-0", "a-0")
    for file, text, code in (
        ("dump.yaml", DUMP, 0), ("other.yaml", names, 0), ("dump.yaml", DUMP.replace('cpu: "1"', "cpu: 1500m"), 1),
    ):  # fmt: skip
        Path(file).write_text(text)
        assert shell("check", "-f", file, *ASKED, "--baseline", "new.yaml").code == code


def test_an_entry_without_a_shape_is_still_read_and_says_so(shell: Shell, here: Path) -> None:
    Path("dump.yaml").write_text(DUMP)
    Path("known.yaml").write_text(KNOWN.replace("overfull", "dump"))
    ran = shell(
        "check", "-f", "dump.yaml", *ASKED, "--baseline", "known.yaml", "--write-baseline", "new.yaml"
    )
    assert ran.code == 0
    found = re.search(
        r"It has no shape, so every dump in a file of this name passes: add `shape: ([0-9a-f]{12})`",
        flat(ran.out),
    )
    assert found is not None
    (entry,) = yaml.safe_load(Path("new.yaml").read_text())["known"]
    assert (entry["shape"], entry["reason"]) == (found[1], "nobody minds")


def test_nothing_holds_in_a_version_that_was_not_read(shell: Shell, here: Path) -> None:
    Path("dump.yaml").write_text(DUMP)
    unread = "the cluster runs 1.34.1, which was not read (--release 1.34.0 gives the verdict on the nearest version)"
    asked = ("check", "-f", "dump.yaml", "--closing", "0", "--property", "S-CAP")
    for options, code in (((), 3), ((*ASKED[:2], "--property", "MY-NONE"), 1)):
        ran = shell(*asked, *options)
        assert (ran.code, unread in flat(ran.out)) == (code, True)
    (found,) = json.loads(shell(*asked, "-o", "json").out)
    assert (found["verdict"], found["scope"]["not_modelled"]) == ("INCONCLUSIVE", unread)
    ran = shell(*asked, "--release", "1.34.0")
    assert (ran.code, unread in flat(ran.out)) == (0, False)
    assert unread in shell(*asked, "--upgrade", "1.37").err
    assert shell(*asked, "--upgrade", "1.37", "--release", "1.34.0").code == 0
    Path("dump.yaml").write_text(DUMP.replace("1.34.1", "1.36.2"))
    ran = shell(*asked)
    same = (
        "The cluster runs 1.36.2, which was not read; 1.36.1 and 1.36.3, before and after it, are the same."
    )
    assert (ran.code, same in flat(ran.out)) == (0, True)
    ran = shell(*asked, "--release", "1.34.1")
    assert (ran.code, ran.err.partition(";")[0]) == (2, "podrace: unknown release `1.34.1`")


def test_of_two_files_with_one_name_an_entry_excuses_neither(shell: Shell, here: Path) -> None:
    """Another file's violation was known by the name alone."""
    Path("known.yaml").write_text(KNOWN)
    Path("other.yaml").write_text(RACE.replace("cpu: 1", "cpu: 2"))
    ran = shell(*TEST, "other.yaml", "--baseline", "known.yaml")
    assert ran.code == 2
    assert flat(ran.err).startswith(
        "podrace: known.yaml:2: MY-NONE in overfull: race.yaml and other.yaml both have a scenario of this name: give each its own `name`"
    )
