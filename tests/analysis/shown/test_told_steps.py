"""Steps as reports know them: told by what the model declares, and otherwise by their names and changes."""

from __future__ import annotations

from podrace.analysis.shown.evidence import PICTURES
from podrace.analysis.shown.steps import memory_of, steps_of
from podrace.checker.trace.execution import replay
from podrace.model.environment.objects import ClusterSpec, Node, Pod
from podrace.model.history import resolve
from podrace.model.language import (
    Component,
    TransitionSystem,
    Words,
    boolean,
    per,
    require,
    step,
    tells,
    words,
)
from podrace.model.scheduler import Nominator
from podrace.properties import PROPERTIES, instrument
from podrace.reports.step import ShownStep

N1 = Node(0, "n1", 2)
SPEC = ClusterSpec("one", (Pod(0, "p", 1),), (N1,))


class Jumping(Nominator):
    """A patch with a step and a variable of its own, and not a word about them."""

    jumped = per(Pod, boolean())

    @step(actor="gremlin")
    def jump(self, pod: Pod) -> None:
        """Jump about."""
        require(~self.jumped[pod])
        self.jumped[pod] = True
        self.node[pod] = N1


class ToldJumping(Jumping):
    """The same with words."""

    phrases = words({"jumped": Words("nominator: {0} has jumped", decisive=True)})

    @tells("A gremlin jumps about {pod}.")
    def jump(self, pod: Pod) -> None:
        """Jump about."""
        self.jumped[pod] = True


def system(*patches: type[Component]) -> TransitionSystem:
    return instrument(SPEC, [*patches, *resolve("1.13").classes], [PROPERTIES["S-CAP"]])


def first(traced: TransitionSystem, name: str) -> ShownStep:
    """The step `name` of p, taken at once."""
    number = next(i for i, t in enumerate(traced.transitions) if t.step == name and t.part != "handlers")
    return steps_of(traced, replay(traced, (number,)))[0]


def test_a_step_of_the_model_in_its_words() -> None:
    found = first(system(), "pop")
    assert found.sentence == "The scheduler takes p from the head of activeQ."
    assert [change.phrase for change in found.spoken] == ["queue: p leaves activeQ"]
    assert {c.variable: c.said for c in found.changes} == {
        "scheduler.phase": "",
        "scheduler.pod": "",
        "queue.sub_queue[p]": "queue: p leaves activeQ",
    }


def test_a_step_without_words_is_told_by_its_name_and_its_changes() -> None:
    found = first(system(Jumping), "jump")
    assert found.told == ""
    assert found.sentence == (
        "gremlin: jump(p) (Jump about); nominator: p is nominated to n1; nominator.jumped[p]: false -> true."
    )


def test_a_step_of_a_patch_in_the_words_of_the_patch() -> None:
    found = first(system(ToldJumping), "jump")
    assert found.sentence == "A gremlin jumps about p."
    assert [(change.phrase, change.decisive) for change in found.spoken] == [
        ("nominator: p has jumped", True)
    ]


def test_pictures_are_of_what_components_know() -> None:
    traced = system()
    views = {view.name for view in memory_of(traced, traced.initial).views}
    assert {view for picture in PICTURES for view in (picture.placed, picture.nominated)} <= views


def test_facts_speak_as_the_model_declares() -> None:
    traced = system()
    memory = memory_of(traced, traced.initial)
    assert memory.compared == ("exists", "node", "nominated")
    assert memory.words("sub_queue", "ACTIVE") == "in activeQ"
    assert memory.words("sub_queue", "NONE") == "in no queue"
    assert memory.words("verdict", "REJECTED") == "does not fit on it"
    assert memory.words("phase", "IDLE") == ""
    assert memory.words("binding cycle", "BIND") == "binding cycle BIND"
