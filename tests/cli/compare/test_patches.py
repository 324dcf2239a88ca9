"""Patches of the user's own: what a file may hold, every mistake, and files to begin with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.analysis.request.patch_checks import PARTS
from podrace.analysis.request.patch_scaffold import overridables, rows_of, scaffold
from podrace.analysis.request.patches import read_patch, with_patches
from podrace.base.problems import UsageProblem
from podrace.model.cluster import build_cluster
from podrace.model.history import RELEASES, Patch, resolve
from podrace.model.language.systems.gathering import narrate
from podrace.model.scheduler import Nominator
from podrace.scenarios import catalogue
from tests.cli.helpers import TINY, Shell

HEAD = """\
from podrace.patching import Node, Nominator, Pod, Scheduler
from podrace.patching import Component, Expr, as_expr, step



"""


MISTAKES = [
    ("", "there is no class in it: derive one from a part of the scheduler, such as PriorityQueue: "),
    ("class A:\n    pass\n", "A is no part of the scheduler: derive one from a part of the scheduler, such as PriorityQueue: "),
    ("class A(Component):\n    def x(self): ...\n    def y(self): return self.x\n", "A changes no part of the scheduler: derive it from one of"),
    (
        "from podrace.model.scheduler.queue.moves import Moves\nclass A(Moves):\n    def records(self): ...\n",
        "A changes no part of the scheduler: derive it from PriorityQueue, of which Moves is a part",
    ),
    ("class A(Scheduler):\n    pass\n", "A overrides nothing: define the method that it is to change"),
    (
        "class A(Scheduler):\n    def after_choise(self, pod, node): ...\n",
        "line 7: A.after_choise overrides nothing; did you mean `after_choice`? (the nearest of ",
    ),
    (
        "class A(Scheduler):\n    def first_nomination_phase(self): ...\n",
        'line 7: A.first_nomination_phase overrides nothing; `first_nomination_phase` is a method of before("72259") of podrace.patching: derive from that\n',
    ),
    (
        "class A(Scheduler):\n    def commit(self, pod, node):\n        super().commit(pod, node)\n",
        "line 7: A.commit overrides nothing; `commit` is a method of Preemption of podrace.patching: derive from that\n",
    ),
    (
        "class A(Scheduler):\n    def after_choice(self, pod): ...\n",
        "line 7: A.after_choice(pod) overrides Scheduler.after_choice(pod, node): give it the same parameters",
    ),
    (
        "class A(Scheduler):\n    def after_choice(self, node, pod): ...\n",
        "line 7: A.after_choice(node, pod) overrides Scheduler.after_choice(pod, node): give it the same parameters",
    ),
    (
        "class A(Scheduler):\n    def skip(self, pod): ...\n",
        "line 7: A.skip overrides a step: annotate its parameter `pod` as Scheduler.skip does",
    ),
    (
        "class A(Scheduler):\n    def skip(self, pod: Node): ...\n",
        "line 7: A.skip overrides a step: its parameter `pod` is Node, where Scheduler.skip has Pod: annotate it so",
    ),
    (
        "class A(Scheduler):\n    async def after_choice(self, pod, node): ...\n",
        "line 7: the body of A.after_choice would never run: a method has no `yield`, and is not `async`",
    ),
    (
        "class A(Scheduler):\n    def after_choice(self, pod, node):\n        yield pod\n",
        "line 7: the body of A.after_choice would never run: a method has no `yield`, and is not `async`",
    ),
    (
        "class A(Nominator):\n    def accepts(self, pod):\n        if pod.priority:\n            return\n        pod.name\n",
        "line 7: A.accepts returns nothing, where Nominator.accepts gives an expression: return one",
    ),
    ("class A(Scheduler):\n    after_choice = 3\n", "A.after_choice: in Scheduler this is a method: override it with one"),
    ("class A(Nominator):\n    def node(self): ...\n", "line 7: A.node: in Nominator this is state: keep it so, or choose another name"),
    ("class _A(Nominator):\n    def accepts(self, pod):\n        return as_expr(True)\n", "_A is taken for a helper, as its name begins with `_`: name it A"),
    (
        "Nominator.accepts = lambda self, pod: as_expr(False)\nclass A(Nominator):\n    def has_object(self, pod):\n        return as_expr(True)\n",
        "it changes podrace.model.scheduler.queue.nominator.Nominator.accepts itself, and so every verdict, with a patch or without: derive a class, override it there, and give that with --patch",
    ),
    ("import nowhere\n", "line 6: ModuleNotFoundError: No module named 'nowhere'"),
    (
        "from podrace.model.scheduler.phases import Phase\n",
        "line 6: ModuleNotFoundError: No module named 'podrace.model.scheduler.phases'; the parts of the scheduler, their words, pods, nodes and expressions are in podrace.patching\n",
    ),
    (
        "from podrace.model.scheduler.queue import PriorityQueue\n",
        "line 6: ImportError: cannot import name 'PriorityQueue' from 'podrace.model.sc...; PriorityQueue is in podrace.patching\n",
    ),
    (
        "from podrace.patching import before\nclass A(before('77991')):\n    pass\n",
        "line 7: before: unknown change `77991`; the nearest: ",
    ),
    (
        "from podrace.patching import before\nclass A(before('134157')):\n    pass\n",
        "line 7: before: 134157 changes Cache, PodWatch, EventHandlers: say which, as in before(\"134157\", \"Cache\")\n",
    ),
    (
        "from podrace.model.scheduler import Users\n",
        "line 6: ImportError: cannot import name 'Users' from 'podrace.model.scheduler'...; Users is in podrace.patching\n",
    ),
    ("class A(Scheduler)\n", "line 6: expected ':'"),
    ("from podrace.patching import Property\nclass A(Property):\n    pass\n", "A is a property, and changes nothing: name it with --properties\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[str(n) for n in range(len(MISTAKES))])
def test_mistakes_in_a_patch(shell: Shell, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + text)
    ran = shell("verify", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {path}: {message}")
    assert ran.err.count("\n") == 1


def test_the_model_is_as_before_when_a_file_has_changed_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + "Nominator.accepts = 3\nNominator.new = 4\ndel Nominator.add\n")
    was = dict(vars(Nominator))
    with pytest.raises(UsageProblem, match=r"it changes podrace\.\S+\.Nominator\.add itself"):
        read_patch(str(path))
    assert dict(vars(Nominator)) == was


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "class A(Nominator):\n    def accepts(self, pod):\n        return 'yes'\n",
            "`'yes'` is not a value of the modelling language",
        ),
        (
            "class A(Nominator):\n    @step(actor='a')\n    def more(self, pod):\n        self.node[pod] = None\n",
            "parameter `pod` of step `more` needs a kind of entity",
        ),
    ],
)
def test_what_is_wrong_is_said_to_be_in_the_patch(
    shell: Shell, tmp_path: Path, text: str, problem: str
) -> None:
    """And not in what `verify` looks at of its own accord."""
    tiny, path = tmp_path / "tiny.yaml", tmp_path / "mine.py"
    tiny.write_text(TINY)
    path.write_text(HEAD + text)
    ran = shell("verify", str(path), "--scenario", str(tiny))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {path}: 1.37.2 + A cannot be built: ")
    assert problem in ran.err


def test_what_a_patch_prints_is_no_part_of_the_report(shell: Shell, tmp_path: Path) -> None:
    tiny, path = tmp_path / "tiny.yaml", tmp_path / "mine.py"
    tiny.write_text(TINY)
    path.write_text(
        HEAD
        + "print('loaded')\nclass A(Nominator):\n    def accepts(self, pod):\n        print('traced')\n        return as_expr(True)\n"
    )
    ran = shell("verify", str(path), "--scenario", str(tiny), "--property", "S-CAP", "-o", "json")
    assert json.loads(ran.out)
    assert {"loaded", "traced"} <= set(ran.err.split())


def test_a_class_is_named(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        HEAD + "class A(Scheduler):\n    def skips(self, pod: Pod) -> Expr:\n        return as_expr(False)\n"
    )
    ran = shell("verify", f"{path}:B")
    assert (ran.code, ran.err) == (2, f"podrace: {path}: there is no class `B` in it; known: A\n")


def test_an_error_while_the_patch_is_traced_names_its_line(shell: Shell, tmp_path: Path) -> None:
    tiny, path = tmp_path / "tiny.yaml", tmp_path / "mine.py"
    tiny.write_text(TINY)
    path.write_text(
        HEAD
        + "class A(Scheduler):\n    def skips(self, pod: Pod) -> Expr:\n        return self.copy[pod] + 1\n"
    )
    ran = shell("verify", str(path), "--scenario", str(tiny))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {path}: line 8: 1.37.2 + A cannot be built: ")
    assert ran.err.count("\n") == 1
    again = shell("check", str(tiny), "--release", "1.36.0", "--patch", str(path))
    assert again.err.startswith(f"podrace: --patch: {path}: line 8: 1.36.0 + A cannot be built: ")
    path.write_text(HEAD + "class A:\n    pass\n")
    assert shell("check", str(tiny), "--patch", str(path)).err.startswith(
        f"podrace: --patch: {path}: A is no part of the scheduler: "
    )


def test_a_file_may_hold_several_classes_and_helpers(tmp_path: Path) -> None:
    path = tmp_path / "both.py"
    path.write_text(
        HEAD
        + "class A(Scheduler):\n"
        + "    def skips(self, pod: Pod) -> Expr:\n        return self.never()\n\n"
        + "    def never(self) -> Expr:\n        return as_expr(False)\n\n\n"
        + "class B(Nominator):\n    def accepts(self, pod: Pod) -> Expr:\n        return as_expr(True)\n"
    )
    patch = read_patch(str(path))
    assert (patch.name, [cls.__name__ for cls in patch.classes]) == ("both", ["A", "B"])
    assert read_patch(f"{path}:B").name == "B"


def test_a_file_may_hold_a_change_and_what_is_asked_of_it() -> None:
    """The properties are no part of the patch; that they are asked with an option is noted, unless one class is named."""
    path = str(Path(__file__).parents[2] / "races" / "kep_5690.py")
    patch = read_patch(path)
    assert [cls.__name__ for cls in patch.classes] == [
        "WorthADryRun", "DevicesPreempted", "LeftToTheDryRun", "DevicesHeld",
    ]  # fmt: skip
    asking = "DeviceGoesToPreemptor, PreemptsOnce, HeldBackAreWoken"
    note = f"{path} has properties, too ({asking}), which are checked only if --properties names the file"
    assert with_patches(resolve("1.37.2"), [patch]).notes == (note,)
    assert with_patches(resolve("1.37.2"), [read_patch(f"{path}:DevicesHeld")]).notes == ()
    with pytest.raises(UsageProblem, match="PreemptsOnce is a property, and changes nothing"):
        read_patch(f"{path}:PreemptsOnce")


def test_a_patch_may_bring_words(tmp_path: Path) -> None:
    """They are refused neither for what they are nor as what overrides nothing; they are told with the model's own."""
    path = tmp_path / "words.py"
    path.write_text(
        HEAD.replace("as_expr, step", "as_expr, Words, step, tells, words")
        + "class A(Nominator):\n"
        + '    phrases = words({"node": Words("{0} is meant for {after}")})\n\n'
        + '    @step(actor="gremlin")\n    @tells("A gremlin jumps about {pod}.")\n'
        + "    def jump(self, pod: Pod) -> None:\n        self.node[pod] = None\n"
    )
    (cls,) = read_patch(str(path)).classes
    narration = narrate(build_cluster(next(iter(catalogue())).spec, (cls,)))
    assert [s.text for s in narration.sentences["nominator.jump"]] == ["A gremlin jumps about {pod}."]
    meant = [a.words.set for a in narration.addresses.values() if a.words and a.state == "nominator.node"]
    assert set(meant) == {"{0} is meant for {after}"}


def test_older_behaviour_that_comes_along_is_noted() -> None:
    path = str(Path(__file__).parents[1] / "patches" / "never_cleared.py")
    patch = read_patch(path)
    assert with_patches(resolve("1.13.0"), [patch]).notes == ()
    (first, second) = with_patches(resolve("1.19.0"), [patch]).notes
    assert first == (
        "NeverCleared derives from Before72259, which 1.19.0 does not have: it brings back what came before"
    )
    assert second.startswith("NeverCleared derives from BeforePostFilter, ")


def test_of_two_patches_that_override_one_method_the_second_is_told(tmp_path: Path) -> None:
    def patch(name: str, body: str) -> Patch:
        file = tmp_path / f"{name}.py"
        file.write_text(f"{HEAD}class {name}(Nominator):\n{body}")
        return read_patch(str(file))

    accepts = "    def accepts(self, pod):\n        return super().accepts(pod)\n"
    other = "    def has_object(self, pod):\n        return super().has_object(pod)\n"
    first, second, beside = patch("A", accepts), patch("B", accepts), patch("C", other)
    notes = with_patches(resolve("1.34.0"), [first, second, beside]).notes
    assert (
        "A and B both override accepts: that of A counts, and what B has there is reached only through its `super()`"
    ) in notes
    assert not [
        note for note in with_patches(resolve("1.34.0"), [first, beside]).notes if "both override" in note
    ]


def test_so_it_is_told_of_two_classes_of_one_file(tmp_path: Path) -> None:
    """A class stands before its own base, and so before what stands behind that."""
    file = tmp_path / "mine.py"
    accepts = "    def accepts(self, pod):\n        return super().accepts(pod)\n\n\n"
    file.write_text(
        f"{HEAD}class A(Nominator):\n{accepts}class B(Nominator):\n{accepts}class C(A):\n{accepts}"
    )
    notes = with_patches(resolve("1.34.0"), [read_patch(str(file))]).notes
    assert [note for note in notes if "both override" in note] == [
        "A and B both override accepts: that of A counts, and what B has there is reached only through its `super()`",
        "C and B both override accepts: that of C counts, and what B has there is reached only through its `super()`",
    ]


def test_the_label_and_the_order_of_classes() -> None:
    patch = read_patch(str(Path(__file__).parents[1] / "patches" / "never_schedules.py"))
    made = with_patches(resolve("1.13.0", ["72259"]), [patch])
    assert made.label == "1.13.0 + 72259 + NeverSchedules"
    assert made.classes[0] is patch.classes[0]
    assert made.classes[1:] == resolve("1.13.0", ["72259"]).classes


@pytest.mark.parametrize("release", [RELEASES[0], "1.13.0", RELEASES[-1]])
def test_every_scaffold_is_a_patch_that_overrides_its_method(tmp_path: Path, release: str) -> None:
    """All in one file, as each file that is read has all of podrace looked through."""
    rows = rows_of(overridables(None, release))
    assert len(rows) > 250
    path = tmp_path / "patch.py"
    texts = (scaffold(f"Mine{i}", row["component"], row["method"], release) for i, row in enumerate(rows))
    first = "from __future__ import annotations\n"
    path.write_text("\n\n".join([first, *(text.replace(first, "") for text in texts)]))
    classes = {cls.__name__: cls for cls in read_patch(str(path)).classes}
    assert len(classes) == len(rows)
    for i, row in enumerate(rows):
        assert row["method"] in vars(classes[f"Mine{i}"])
        assert issubclass(classes[f"Mine{i}"], PARTS[row["component"]])


def test_a_scaffold_changes_nothing_until_it_is_changed(shell: Shell, tmp_path: Path) -> None:
    tiny = tmp_path / "tiny.yaml"
    tiny.write_text(TINY)
    ran = shell(
        "new-patch", "KeepRoom", "--method", "skips", "--release", "1.19.0", "--directory", str(tmp_path)
    )
    assert (ran.code, ran.out) == (0, "")
    path = tmp_path / "keep_room.py"
    assert ran.err == f"wrote {path}\n"
    ran = shell("verify", str(path), "--release", "1.19.0", "--scenario", str(tiny))
    assert ran.err.startswith("podrace: KeepRoom changes nothing on 1.19.0")


def test_the_scaffold_of_a_release_derives_from_what_the_release_has() -> None:
    text = scaffold("Mine", "Scheduler", "first_nomination_phase", "1.13.0")
    assert "from podrace.patching import Phase, before\n" in text
    assert 'class Mine(before("72259")):\n' in text
    assert "return super().first_nomination_phase()\n" in text
    assert 'class Mine(before("post-filter", "Scheduler")):\n' in scaffold(
        "Mine", "Scheduler", "first_nomination_phase", "1.14.0"
    )


def test_a_scaffold_imports_from_one_place() -> None:
    """But for a word of which another part has the name; and a method that no change has touched is the part's."""
    lines = [
        line
        for row in rows_of(overridables(None, "1.34.0"))
        for line in scaffold("Mine", row["component"], row["method"], "1.34.0").splitlines()
        if line.startswith("from podrace.")
    ]
    assert {line for line in lines if not line.startswith("from podrace.patching import ")} == {
        "from podrace.model.environment.controllers.node_lifecycle import Stage",
        "from podrace.model.environment.pod_groups import Domain",
    }
    assert "class Mine(Nominator):\n" in scaffold("Mine", "Nominator", "popped", "1.13.0")


def test_the_list(shell: Shell) -> None:
    ran = shell("new-patch", "--list", "--component", "Nominator", "-o", "json")
    assert ran.code == 0
    assert [row["method"] for row in json.loads(ran.out)] == [
        "accepts",
        "add",
        "carries_field",
        "delete",
        "hand_over",
        "has_form",
        "has_object",
        "is_withdrawn_by",
        "is_withdrawn_from",
        "nominated_to",
        "popped",
        "update",
    ]
    ran = shell("new-patch", "--list", "--component", "Scheduler", "--release", "1.13.0")
    assert "    skip(pod)  step  The popped pod does not need to be scheduled.\n" in ran.out


def test_the_list_by_a_function_of_upstreams(shell: Shell) -> None:
    ran = shell("new-patch", "--list", "--grep", "selectVictimsOnNode", "-o", "json")
    assert [(row["component"], row["method"]) for row in json.loads(ran.out)] == [
        ("Preemption", "select_victims")
    ]
    assert shell("new-patch", "--list", "--grep", "selectVictimsOnNode").out.count("\n") == 2
    ran = shell("new-patch", "Mine", "--grep", "assume")
    assert (ran.code, ran.err) == (2, "podrace: --grep chooses from what can be overridden: add --list\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["A", "--method", "nope"], "Scheduler has no method `nope` in 1.37.2; the nearest of 106: "),
        (["A", "--component", "Sheduler"], "--component: unknown part `Sheduler`; did you mean `Scheduler`?"),
        (
            ["podrace"],
            "`podrace` would be written to podrace.py, which hides the module `podrace` from programs in that folder: choose another name, such as PodracePatch",
        ),
        (
            ["Queue"],
            "`Queue` would be written to queue.py, which hides the module `queue` from programs in that folder: choose another name, such as QueuePatch",
        ),
        (
            ["Pod", "--component", "Nominator", "--method", "add"],
            "`Pod` cannot name this class, as Pod means something else in its file: choose another name, such as PodPatch",
        ),
        (
            ["Nominator", "--component", "Nominator", "--method", "add"],
            "`Nominator` cannot name this class, as Nominator means something else in its file: choose another name, such as NominatorPatch",
        ),
        (
            ["none"],
            "`none` cannot name this class, as None means something else in its file: choose another name, such as NonePatch",
        ),
        (["A-B"], "`A-B` cannot name a class: write letters, digits and _, such as MyPatch"),
        ([], "name the patch, such as `podrace new-patch MyPatch`, or see --list"),
        (["A", "--list"], "--list only lists: leave out NAME and --method"),
        (["A", "--directory", "nowhere"], "new-patch: cannot write `nowhere/a.py`: there is no directory `nowhere`"),
    ],
)  # fmt: skip
def test_mistakes_of_new_patch(shell: Shell, arguments: list[str], message: str) -> None:
    ran = shell("new-patch", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {message}")
    assert ran.err.count("\n") == 1


FAIRNESS = """\
from podrace.patching import Pod, PodWatch, PriorityQueue, Users, require, step


class A(PriorityQueue):
    @step(actor="queue timers"{fair})
    def {name}(self, pod: Pod) -> None:
        super().{name}(pod)
"""


@pytest.mark.parametrize(
    ("name", "fair", "notes"),
    [
        (
            "flush_unschedulable",
            "",
            ["A counts on PriorityQueue.flush_unschedulable to happen in the end (`fair=True`), unlike 1.36.0: say why that is so"],
        ),
        ("flush_unschedulable", ", fair=False", []),
        (
            "flush_backoff",
            ", fair=False",
            ["A no longer counts on PriorityQueue.flush_backoff to happen in the end (`fair=False`), unlike 1.36.0: say why that is so"],
        ),
        ("flush_backoff", "", []),
    ],
)  # fmt: skip
def test_other_fairness_is_noted(tmp_path: Path, name: str, fair: str, notes: list[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FAIRNESS.format(name=name, fair=fair))
    assert list(with_patches(resolve("1.36.0"), [read_patch(str(path))]).notes) == notes


def test_fairness_is_compared_with_that_of_the_release(tmp_path: Path) -> None:
    """Up to 1.13.0 there is no such flush: the class of the release that takes it away says that it is not counted on."""
    path = tmp_path / "mine.py"
    path.write_text(FAIRNESS.format(name="flush_unschedulable", fair=", fair=False"))
    assert not with_patches(resolve("1.13.0"), [read_patch(str(path))]).notes


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        (
            "class A(Users):\n    def delete_pod(self, pod: Pod) -> None:\n        require(False)\n",
            ["A changes what runs around the scheduler (Users: delete_pod): the verdict is about a cluster where that is so"],
        ),
        ("class A(PodWatch):\n    def resume(self) -> None:\n        require(False)\n", []),
    ],
)  # fmt: skip
def test_another_world_is_noted(tmp_path: Path, body: str, notes: list[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(FAIRNESS.partition("class A")[0] + body)
    assert list(with_patches(resolve("1.36.0"), [read_patch(str(path))]).notes) == notes


def test_bases_without_a_common_order_are_refused(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        f"{HEAD}class _M:\n    pass\n\n\nclass _N:\n    pass\n\n\n"
        "class A(_M, _N, Nominator):\n    def accepts(self, pod: Pod) -> Expr:\n        return as_expr(True)\n\n\n"
        "class B(_N, _M, Nominator):\n    def has_object(self, pod: Pod) -> Expr:\n        return as_expr(True)\n"
    )
    tiny = tmp_path / "tiny.yaml"
    tiny.write_text(TINY)
    ran = shell("check", str(tiny), "--patch", str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "podrace: A, B: the bases of these classes have no common order: name them in the same order in each\n"
    )
