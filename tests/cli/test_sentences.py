"""The sentences of the scheduler fit the model: every step has one, and every one belongs to a step."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

from podrace.analysis.narration.sentences import SENTENCES
from podrace.model.environment.objects import ClusterSpec, ExtensionPoint, Node, Pod, Scope
from podrace.model.history import RELEASES, resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reports.document import Change, Step, Value


def spec() -> ClusterSpec:
    """A cluster in which everything may happen."""
    nodes = (Node(0, "n", 1), Node(1, "m", 1, exists=False))
    pods = (
        Pod(0, "v", 1, 0, node=nodes[0], extension_points=tuple(ExtensionPoint)),
        Pod(1, "p", 1, 1, extension_points=tuple(ExtensionPoint)),
        Pod(2, "q", 1, 1, exists=False, gated=True),
    )
    scope = Scope(
        node_deletions=1, node_creations=1, pod_deletions=1, pod_creations=1, bind_failures=1, lost_replies=1,
        write_failures=1, assume_expiries=1, plugin_errors=1, permit_rejections=1,
        restarts=1, leader_changes=1, external_binds=1, relists=1,
    )  # fmt: skip
    return ClusterSpec("all", pods, nodes, scope)


@cache
def steps() -> dict[str, set[str]]:
    """The steps of all releases with the names of their arguments."""
    found: dict[str, set[str]] = {}
    for release in RELEASES:
        for t in instrument(spec(), resolve(release).classes, [PROPERTIES["S-CAP"]]).transitions:
            found.setdefault(f"{t.part}.{t.step}", set()).update(name for name, _ in t.args)
    return found


def test_every_step_has_a_sentence_whatever_it_changes() -> None:
    always = [s for s in SENTENCES if not s.when]
    assert [n for n in steps() if not any(re.fullmatch(s.step, n) for s in always)] == []


def test_every_sentence_belongs_to_a_step() -> None:
    assert [s.text for s in SENTENCES if not any(re.fullmatch(s.step, n) for n in steps())] == []


def test_no_sentence_hides_a_later_one() -> None:
    """One that always fits is the last for its steps."""
    for i, one in enumerate(SENTENCES):
        if one.when:
            continue
        mine = {n for n in steps() if re.fullmatch(one.step, n)}
        assert [s.text for s in SENTENCES[i + 1 :] if any(re.fullmatch(s.step, n) for n in mine)] == []


def test_every_name_in_a_sentence_is_known() -> None:
    for sentence in SENTENCES:
        names = {name for _, name, _, _ in Formatter().parse(sentence.text) if name}
        groups = set(re.compile(sentence.when).groupindex)
        for step, arguments in steps().items():
            if re.fullmatch(sentence.step, step):
                assert names <= arguments | groups, sentence.text


def test_what_a_user_adds_is_told_as_it_is() -> None:
    step = Step(1, "gremlin", "mine", "jump", {"pod": "p"}, "Jump about", ())
    assert SCHEDULER_WORDS.tell(step) == "gremlin: jump(p) (Jump about)."


def test_the_outcome_decides() -> None:
    def told(after: str) -> str:
        change = Change("scheduler.verdict[n1]", "UNTRIED", after)
        arguments: dict[str, Value] = {"pod": "q", "node": "n1"}
        return SCHEDULER_WORDS.tell(Step(1, "scheduler", "scheduler", "filter", arguments, "", (change,)))

    assert told("FEASIBLE") == "The filters pass: q fits on n1."
    assert told("REJECTED") == "The filters fail: q does not fit on n1."
