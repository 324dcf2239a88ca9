"""`podrace ask`, `ask` in scenarios, and what becomes of its traces."""

import json

import pytest

from podrace.reports.formats.json_schema import schema_of
from tests.cli.find.test_never_acted import IDLE, SENTENCE
from tests.cli.helpers import TINY, flat
from tests.reports.standards import assert_matches
from tests.reproduce.conftest import go

__all__ = ["go"]

BINDS, ASSUMES = "binding goroutine binds p", "scheduler assumes p on n"

POSSIBLE = """\
tiny, 1.19.0: POSSIBLE
  1. scheduler assumes p on n
     = The scheduler assumes p on n: in its cache the pod is there already.
  2. then: scheduler.start_binding(p)
     = scheduler.start_binding(p)
  3. end: p bound to n
     = API server: p on n

  The cluster: node n has 1 cpu.
  Pod p asks for 1 cpu, has priority 0 and is pending.

  What happens
  1. The scheduler takes p from the head of activeQ.
  2. The scheduler takes its snapshot of the cache. The rest of the cycle for p relies on it.
  3. The filters pass: p fits on n.
  (step 1 of 2 of the question)
  4. The scheduler assumes p on n: in its cache the pod is there already.
     From here on views differ on p: API server, lister and snapshot: on no node; cache: on n.
  (step 2 of 2 of the question)
  5. The scheduler starts a binding goroutine for p and goes on.
     Views on p now: API server and lister: on no node; cache: on n.
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY, encoding="utf-8")


@pytest.mark.usefixtures("tiny")
def test_a_possible_order_is_told_with_its_shortest_run(shell):
    ran = shell("ask", "tiny.yaml", ASSUMES, "--then", "scheduler.start_binding(p)", "--end", "p bound to n")
    assert ran.code == 0
    assert ran.out.startswith(POSSIBLE)
    assert "(all of the question has happened)" in ran.out
    assert (
        "Possible: a run of 6 steps, and no shorter run does it (7 states, 6 transitions, depth 6 explored)."
        in flat(ran.out)
    )


@pytest.mark.usefixtures("tiny")
def test_an_impossible_order_is_explained_by_the_conditions_that_are_false(shell):
    ran = shell("ask", "tiny.yaml", BINDS, ASSUMES)
    assert ran.code == 1
    out = flat(ran.out)
    assert out.startswith("tiny, 1.19.0: IMPOSSIBLE ")
    assert (
        "The first step is possible, and step 2 is not. The shortest run so far: 1. The scheduler takes p"
        in out
    )
    assert (
        "Then this is impossible: scheduler.assume(p, n) - it needs: scheduling cycle: the cycle busy with p (false from there on) "
        "there: scheduling cycle: the cycle busy with no pod since: step 5: The scheduler starts a binding goroutine for p and goes on"
    ) in out
    assert f"Nearest order: possible step 2 before step 1, after 6 steps: {ASSUMES}; {BINDS}" in out
    assert "Impossible in this cluster, within its scope: no interleaving does it (20 states, " in out


@pytest.mark.usefixtures("tiny")
def test_the_document_says_the_same(shell):
    ran = shell("ask", "tiny.yaml", BINDS, "--not-between", "scheduler.pop(p)", ASSUMES, "-o", "json")
    (told,) = json.loads(ran.out)
    assert (told["answer"], told["possible"], told["asked_steps"]) == ("IMPOSSIBLE", 1, 2)
    assert told["question"] == [BINDS, "not: scheduler.pop(p)", ASSUMES]
    assert len(told["beginning"]) == 6
    assert {one["needed"] for one in told["obstacles"]} >= {"scheduling cycle: the cycle busy with p"}
    assert (
        told["nearest"]
        == {
            "change": "step 2 before step 1",
            "question": ["not: scheduler.pop(p)", ASSUMES, BINDS],
            "steps": 6,
        }
        or told["nearest"]
    )
    assert "seconds" in told
    assert told["seconds"] is None


@pytest.mark.usefixtures("tiny")
def test_a_search_that_ends_early_decides_nothing(shell):
    ran = shell("ask", "tiny.yaml", BINDS, ASSUMES, "--max-states", "3")
    assert ran.code == 3
    assert "INCONCLUSIVE" in ran.out
    assert "to go on: allow more with --max-states" in flat(ran.out)


@pytest.mark.usefixtures("tiny")
def test_several_releases_say_since_when(shell):
    ran = shell("ask", "tiny.yaml", "scheduler.take_snapshot(p)", "--release", "1.19..1.21,1.36")
    assert ran.code == 0
    assert ran.out.rstrip().endswith("possible in 1.19.16 to 1.36.5.")


@pytest.mark.usefixtures("tiny")
def test_a_trace_of_an_answer_is_replayed_as_one(shell, tmp_path):
    assert shell("ask", "tiny.yaml", ASSUMES, BINDS, "--save-trace", "run.json").code == 0
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["asks"] == [ASSUMES, BINDS]
    ran = shell("replay", "run.json")
    assert ran.code == 0
    assert "(step 2 of 2 of the question)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no step is asked about: write one, such as `users delete p`, or a state with `end: p parked`"),
        (("then: x",), "`then: x`: there is no step before it: leave out `then`"),
        (("scheduler.pop(p)", "--then"), "--then: write a step behind it"),
        (("scheduler.pop(z)",), "`scheduler.pop(z)`: no such arguments: this step is `scheduler.pop(p)`"),
        (
            ("scheduler.pop(p)", "--release", "1.21..1.19"),
            "--release: `1.21..1.19`: the earlier release comes first: write 1.19..1.21",
        ),
        (("scheduler.pop(p)", "--end", "L-STARVE"), "`L-STARVE`: "),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_what_cannot_be_asked_is_refused_in_one_line(shell, arguments, said):
    ran = shell("ask", "tiny.yaml", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


ASKED = """
ask:
- question: [scheduler assumes p on n, "then: scheduler.start_binding(p)", "end: p bound to n"]
  answer: possible
  steps: 6
- question: [binding goroutine binds p, scheduler assumes p on n]
  answer: impossible
  release: "1.36"
"""


@pytest.mark.usefixtures("tiny")
def test_a_scenario_expects_answers(shell, tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY + ASKED, encoding="utf-8")
    ran = shell("test", "tiny.yaml")
    assert ran.code == 0
    assert flat(ran.out).startswith(
        "tiny.yaml ok 1.19.0: ASK VIOLATED: Possible (scheduler assumes p on n; then: scheduler.start_binding(p); end: p bound to n): "
        "Violated after 6 steps, and no run is shorter"
    )
    assert "1 file: 2 passed, 0 failed, 0 undecided" in ran.out
    (tmp_path / "tiny.yaml").write_text(TINY + ASKED.replace("impossible", "possible"), encoding="utf-8")
    assert shell("test", "tiny.yaml").code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ask:\n- answer: possible\n", "`question` is missing: write the steps that are asked about"),
        ("ask:\n- question: [x]\n", "`answer` is missing: write possible or impossible"),
        ("ask:\n- {question: [x], answer: maybe}\n", "ask[0].answer"),
        (
            "ask:\n- {question: [x], answer: impossible, steps: 3}\n",
            "only a possible order has a shortest run: remove the field",
        ),
        (
            "ask:\n- {question: ['then: x'], answer: possible}\n",
            "ask[0].question: `then: x`: there is no step before it",
        ),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_a_section_that_asks_wrongly_is_refused_with_its_place(shell, tmp_path, text, said):
    (tmp_path / "tiny.yaml").write_text(TINY + text, encoding="utf-8")
    ran = shell("test", "tiny.yaml")
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.usefixtures("tiny")
def test_the_schema_of_answers_fits_them(shell):
    ran = shell("ask", "tiny.yaml", BINDS, ASSUMES, "-o", "json")
    assert_matches(schema_of("ask"), json.loads(ran.out))


def test_an_impossible_order_says_what_never_acted(shell, tmp_path):
    file = tmp_path / "idle.yaml"
    file.write_text(IDLE)
    ran = shell("ask", str(file), "binding.bind(b)", "scheduler.assume(b, n)", "-o", "json")
    (told,) = json.loads(ran.out)
    assert told["answer"] == "IMPOSSIBLE"
    assert told["notes"][-1] == SENTENCE


@pytest.mark.usefixtures("tiny")
def test_an_end_alone_that_is_impossible_is_explained(shell):
    ran = shell("ask", "tiny.yaml", "--end", "n overfull")
    assert (ran.code, ran.err) == (1, "")
    out = flat(ran.out)
    assert (
        "No run leads to the state at the end. Then this is impossible: the state at the end - it needs:"
        in out
    )
    assert "Nearest order: none of those that differ by one change is known to be possible." in out


@pytest.mark.usefixtures("tiny")
def test_a_possible_order_is_written_as_a_go_test(shell, tmp_path):
    ends = ("--end", "p bound to n", "--release", "1.36.3")
    ran = shell("ask", "tiny.yaml", BINDS, *ends, "--go-test", "p_test.go")
    assert (ran.code, flat(ran.err)) == (0, "wrote p_test.go")
    text = (tmp_path / "p_test.go").read_text(encoding="utf-8")
    assert "// Written by `podrace ask tiny --go-test` for kube-scheduler v1.36.3." in text
    assert '\t\tc.ExpectPossible("api.pod[p].node", "n")\n' in text


@pytest.mark.usefixtures("tiny")
def test_an_impossible_order_is_no_go_test_and_no_run(shell, tmp_path, go):
    ran = shell("ask", "tiny.yaml", BINDS, ASSUMES, "--go-test", "p_test.go", "--run")
    assert (ran.code, ran.err) == (1, "")
    assert not (tmp_path / "p_test.go").exists()
    assert "kube-scheduler v" not in ran.out


@pytest.mark.usefixtures("tiny")
def test_a_version_that_cannot_be_built_is_not_run(shell, go):
    ran = shell("ask", "tiny.yaml", ASSUMES, "--run", "-o", "json")
    assert ran.code == 3
    (told,) = json.loads(ran.out)
    assert told["answer"] == "POSSIBLE"
    assert told["on_code"]["verdict"] == "NOT RUN"
    assert "v1.19.0 cannot be built any more: name v1.29.0 or later" in told["on_code"]["words"]
    assert_matches(schema_of("ask"), [told])


@pytest.mark.usefixtures("tiny")
def test_a_go_test_is_for_one_release(shell):
    ran = shell("ask", "tiny.yaml", ASSUMES, "--release", "1.35,1.36", "--go-test", "p_test.go")
    assert ran.code == 2
    assert ran.err.endswith("--go-test: a test is for one release, and 2 are asked about: name one\n")


EVERYWHERE = ("--pods", "1", "--nodes", "1")


def test_all_clusters_are_asked_with_every_choice_of_pods_and_nodes(shell):
    ran = shell(
        "ask",
        *EVERYWHERE,
        "scheduler assumes p on n",
        "--then",
        "scheduler.start_binding(p)",
        "--release",
        "1.19",
    )
    assert ran.code == 0
    assert ran.out.startswith(
        "1.19.16, up to 1 pod and 1 node: POSSIBLE\n  1. scheduler assumes p on n\n  2. then: scheduler.start_binding(p)\n"
    )
    assert (
        "choices of a cluster, and of its pods and nodes that the names stand for, can be told apart; in 1 of them it is possible"
        in flat(ran.out)
    )
    assert "Possible: a run of 5 steps, and no shorter run does it" in flat(ran.out)


def test_all_clusters_are_asked_in_several_releases(shell):
    order = ("scheduler.start_binding(p)", "scheduler assumes p on n", "--never", "binding.forget(p)")
    ran = shell("ask", *EVERYWHERE, *order, "--release", "1.35,1.36", "-o", "json")
    assert ran.code == 1
    found = json.loads(ran.out)
    assert [(one["verdict"], one["why"]["answer"]) for one in found] == [("HOLDS FOR ALL", "IMPOSSIBLE")] * 2
    assert found[0]["question"] == [*order[:2], "never: binding.forget(p)"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("tiny.yaml", "pop(p)", "--pods", "2"),
            "--pods, --nodes and --scope belong together: give --pods and --nodes",
        ),
        (
            ("pop(p)", "--scope", "node_deletions=1"),
            "--pods, --nodes and --scope belong together: give --pods and --nodes",
        ),
        ((), "name a SCENARIO, or ask about all clusters with --pods and --nodes"),
        (("pop(p)", *EVERYWHERE, "--run"), "leave out --save-trace, --run, --go-test and --timeout"),
        (
            ("tiny.yaml", "pop(p)", *EVERYWHERE),
            "`tiny.yaml`: no step of 1 pods and 1 nodes, 1 on n1 has these words",
        ),
        (EVERYWHERE, "no step is asked about"),
        (
            ("pop(p)", "pop(q)", *EVERYWHERE),
            "the question is about more pods or nodes than --pods and --nodes allow",
        ),
    ],
)
def test_what_cannot_be_asked_of_all_clusters_is_refused(arguments, problem, shell):
    ran = shell("ask", *arguments)
    assert ran.code == 2
    assert problem in ran.err
    assert ran.err.count("\n") == 1


def test_a_release_that_has_no_such_step_is_said_to_have_none(shell):
    ran = shell("ask", *EVERYWHERE, "FinishBinding(p)", "--release", "1.34,1.36")
    assert ran.code == 1
    assert ran.out.endswith("\n\npossible in 1.34.11; not there in 1.36.5.\n")
