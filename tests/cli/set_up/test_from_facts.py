"""`podrace init --from`: each kind of report gives a scenario whose first question has an answer."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from podrace.cli.starting.from_facts import Facts, kinds, started
from podrace.scenarios import parse_scenario
from tests.cli.helpers import Shell, flat

ANSWERS = {
    "room-taken": ("IMPOSSIBLE", None),
    "overfull": ("POSSIBLE", 11),
    "stays-pending": ("POSSIBLE", 9),
    "updated-in-flight": ("POSSIBLE", 19),
    "deleted-in-flight": ("POSSIBLE", 7),
    "bind-fails": ("POSSIBLE", 27),
    "reply-lost": ("POSSIBLE", 7),
    "node-gone": ("POSSIBLE", 8),
    "node-joins": ("POSSIBLE", 8),
    "restarted": ("POSSIBLE", 14),
}
"""The answer to the first question, and the length of the run."""

QUICK = ("reply-lost", "node-gone")
OWN = ("--node", "n1=4", "--pod", "web=4,0,n1", "--pod", "urgent=4,10", "--pod", "other=2,10")


@pytest.mark.parametrize(
    "kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.ci) for k in ANSWERS]
)
def test_the_first_question_has_an_answer(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = Shell(capsys)
    wrote = run("init", "mine.yaml", "--from", kind)
    assert wrote.code == 0
    command = wrote.out.partition("now run `")[2].strip().removesuffix("`")
    assert f"# The first question: {command}\n" in Path("mine.yaml").read_text()
    ran = run(*shlex.split(command)[1:], "--release", "1.36.3", "--timeout", "60s", "-o", "json")
    (answer,) = json.loads(ran.out)
    steps = answer["finding"] and len(answer["finding"]["trace"])
    assert (answer["answer"], steps) == ANSWERS[kind]


def test_the_page_lists_all_kinds():
    page = Path(__file__).parents[3].joinpath("docs/ask.md").read_text(encoding="utf-8")
    assert list(kinds()) == list(ANSWERS)
    assert all(f"| `{name}` | {row['title']} |" in page for name, row in kinds().items())


def test_own_facts_take_the_places():
    made = started("room-taken", Facts(OWN[1:2], OWN[3::2], ("node_deletions",)), "mine.yaml", "mine")
    assert (
        made.command
        == "podrace ask mine.yaml 'scheduler.choose_candidate(urgent)' 'scheduler assumes other on n1'"
    )
    assert made.text == (
        "# Preemption frees room for a pod, and another pod takes it. docs/scenarios.md lists every field.\n"
        f"# The first question: {made.command}\n"
        "name: mine\n"
        "title: Preemption frees room for a pod, and another pod takes it\n"
        "properties: [S-NOM]\n"
        "nodes:\n"
        "  n1: {cpu: 4}\n"
        "pods:\n"
        "  web: {cpu: 4, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}\n"
        "  urgent: {cpu: 4, priority: 10}\n"
        "  other: {cpu: 2, priority: 10}\n"
        "scope: {flush: false, node_deletions: 1}\n"
    )
    assert [pod.name for pod in parse_scenario(made.text).spec.pods] == ["web", "urgent", "other"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--from", "lost"), "--from: unknown kind of report `lost`: there are room-taken: Preemption frees room"),
        (("--node", "n1=2"), "--node, --pod and --may are facts of a report: name its kind with --from"),
        (("--from", "overfull", "--node", "n1"), "--node: `n1`: write NAME=CPU"),
        (("--from", "overfull", "--pod", "p=1,2,n1,4"), "--pod: `p=1,2,n1,4`: write NAME=CPU[,PRIORITY[,NODE]]"),
        (("--from", "overfull", "--pod", "p=1", "--pod", "p=2"), "--pod: `p` comes twice: give each a name of its own"),
        (("--from", "room-taken", "--pod", "p=1"), "--pod: a report of the kind `room-taken` needs a bound pod: add one"),
        (("--from", "overfull", "--pod", "P!=1"), "mine.yaml:9: pods.P!: expected a name"),
        (("--from", "overfull", "--pod", "p=1,0,n9"), "mine.yaml:9: pods.p.nodeName: there is no node `n9`; known: n1"),
        (("--from", "overfull", "--may", "meteors"), "mine.yaml:11: scope: unknown field `meteors`"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_nothing_is_written(options, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ran = Shell(capsys)("init", "mine.yaml", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in flat(ran.err)
    assert not Path("mine.yaml").exists()
