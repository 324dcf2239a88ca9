"""Audit logs of a real kube-apiserver 1.36.3, on which tests/audit/cluster made races happen. They are whole, from a new cluster on."""

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from podrace.audit.audit import Asked, audit_logs
from tests.audit.mutations import mutated
from tests.audit.test_wrappings import OF_ANY_SERVER, WRAPPED, gke_entry
from tests.audit.written_logs import Object, answer, answered

LOGS = Path(__file__).parent / "logs"
NOTHING: Object = {"kind": "List", "items": []}

VERDICTS = {
    "lost-reply": {"S-CAP": "HIT", "S-COND": "HIT", "A-TWICE": "EXCLUDED", "A-LEASE": "EXCLUDED"},
    "hand-over": {"S-CAP": "HIT", "S-COND": "HIT", "A-TWICE": "HIT", "A-LEASE": "NOT EXCLUDED"},
    "nothing-wrong": {
        "S-CAP": "EXCLUDED",
        "S-COND": "EXCLUDED",
        "A-TWICE": "EXCLUDED",
        "A-LEASE": "EXCLUDED",
    },
}
"""S-AFF and A-FLUSH are EXCLUDED in all. Of a hand-over, addresses alone do not say that the first leader sent nothing more."""


def events(name: str) -> list[Object]:
    """The events of a log."""
    return [
        json.loads(line) for line in gzip.decompress((LOGS / f"{name}.jsonl.gz").read_bytes()).splitlines()
    ]


@pytest.mark.parametrize("name", VERDICTS)
def test_the_answers(name: str, tmp_path: Path) -> None:
    report = answered(tmp_path, events(name), NOTHING)
    given = {a.property: a.verdict for a in report.answers}
    assert given == {"S-AFF": "EXCLUDED", "A-FLUSH": "EXCLUDED", **VERDICTS[name]}
    assert report.account.skipped == {}


@pytest.mark.parametrize("name", ["lost-reply", "hand-over"])
def test_which_pods_and_by_whom(name: str, tmp_path: Path) -> None:
    (hit,) = answer(answered(tmp_path, events(name), NOTHING), "S-CAP").hits
    assert (hit.node, set(hit.pods), hit.by) == (
        "n",
        {"default/first", "default/second"},
        "system:kube-scheduler",
    )
    assert "n is overfull: 1200m of 1 cpu with default/first, default/second" in hit.words


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "races", "ruled_out"),
    [
        ("lost-reply", ["two-generals"], ["leader-hand-over", "restart-before-handlers"]),
        ("hand-over", ["leader-hand-over"], ["expired-assumption", "two-generals", "node-comes-back-empty"]),
    ],
)
def test_the_races_that_explain_it(name: str, races: list[str], ruled_out: list[str], tmp_path: Path) -> None:
    """The scheduler's requests say its release; one process held the lease all the time, or two sent the Bindings."""
    report = answered(tmp_path, events(name), NOTHING, explain=True, properties=("S-CAP",))
    (hit,) = answer(report, "S-CAP").hits
    assert [line.split()[2] for line in hit.explained if line.startswith("explained by")] == races
    assert not any(line.startswith("not decided") for line in hit.explained)
    said = [line.partition(": ")[2].split(", ") for line in hit.explained if line.startswith("ruled out")]
    assert said == [ruled_out]
    assert hit.run[-1].endswith("binds second: the API server has it on n. So does the log show it.")


@pytest.mark.ci
@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize("name", VERDICTS)
def test_the_same_answers_in_every_wrapping(name: str, kind: str, tmp_path: Path) -> None:
    """But for who sent from where: whoever does not know which API server wrote a line knows no sender by an address of its own machine."""
    log, start = tmp_path / "a.log", tmp_path / "start.json"
    wrapped = WRAPPED[kind](events(name))
    log.write_bytes(wrapped if isinstance(wrapped, bytes) else wrapped.encode())
    start.write_text(json.dumps(NOTHING))
    report = audit_logs(Asked([str(log)], [str(start)], True))
    wanted = {"S-AFF": "EXCLUDED", "A-FLUSH": "EXCLUDED", **VERDICTS[name]}
    if kind in OF_ANY_SERVER:
        wanted["A-LEASE"] = "NOT EXCLUDED"
    assert {a.property: a.verdict for a in report.answers} == wanted
    assert report.account.skipped == {}


@pytest.mark.parametrize("name", VERDICTS)
def test_entries_of_cloud_logging_say_less_and_nothing_wrong(name: str, tmp_path: Path) -> None:
    """An entry has one time, and these races took seconds: so only what one body shows is sure."""
    entries = [gke_entry(e) for e in events(name) if e["stage"] == "ResponseComplete"]
    report = answered(tmp_path, "".join(json.dumps(e) + "\n" for e in entries), NOTHING)
    given = {a.property: a.verdict for a in report.answers}
    truth = {"S-AFF": "EXCLUDED", "A-FLUSH": "EXCLUDED", **VERDICTS[name]}
    assert all(given[p] in (truth[p], "NOT EXCLUDED") for p in truth)
    assert given["S-COND"] == VERDICTS[name]["S-COND"]
    assert report.account.skipped == {}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_log_that_says_nothing_of_its_beginning_excludes_nothing(name: str, tmp_path: Path) -> None:
    report = answered(tmp_path, events(name), None, complete=False)
    assert {a.verdict for a in report.answers} <= {"HIT", "NOT EXCLUDED"}


def never_wrong(name: str, folder: Path, count: int) -> set[str]:
    """The verdicts on so many mutations of a log; fails where one contradicts what happened."""
    random, whole, given = Random(name), events(name), set[str]()
    for number in range(count):
        log = mutated(random, whole)
        names = []
        for part, text in enumerate(log.texts):
            names.append(str(folder / f"{part}.log"))
            Path(names[-1]).write_text(text)
        start = folder / "start.json"
        start.write_text(json.dumps(NOTHING))
        report = audit_logs(Asked(names, [str(start)] if log.from_the_start else [], log.complete))
        for found in report.answers:
            truth = VERDICTS[name].get(found.property, "EXCLUDED")
            wrong = "EXCLUDED" if truth == "HIT" else "HIT"
            assert found.verdict != wrong, (number, log.kind, found)
            given.add(found.verdict)
    return given


@pytest.mark.parametrize("name", ["lost-reply", "hand-over"])
def test_two_hundred_mutations_weaken_answers_and_make_none_wrong(name: str, tmp_path: Path) -> None:
    assert never_wrong(name, tmp_path, 200) == {"HIT", "NOT EXCLUDED", "EXCLUDED"}


@pytest.mark.ci
def test_two_hundred_mutations_of_a_log_without_a_race_raise_nothing(tmp_path: Path) -> None:
    assert never_wrong("nothing-wrong", tmp_path, 200) == {"NOT EXCLUDED", "EXCLUDED"}
