"""A verdict on a patched scheduler says so if it is one on the scheduler without the patch."""

from pathlib import Path

import pytest

from podrace.analysis.chain import verdict_on
from podrace.analysis.prove.proof_of_property import prove_all
from podrace.analysis.prove.proof_request import ProofRequest
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.patches import patches_of
from podrace.analysis.request.plan import Selection, plan
from podrace.checker.core.exploration import Budget

HEAD = """\
from podrace.model.environment.objects import Pod
from podrace.model.language import Expr, Value, as_expr
from podrace.model.scheduler import AsyncPreemption, Nominator, Scheduler


"""
SAME = """\
class Same(Nominator):
    def add(self, pod: Pod, node: Value, field: Value) -> None:
        super().add(pod, node, field)


"""
UNFELT = """\
class Unfelt(AsyncPreemption):
    def activates(self, pod: Pod) -> Expr:
        return as_expr(True)


"""
FELT = """\
class Felt(Scheduler):
    def skips(self, pod: Pod) -> Expr:
        return as_expr(True)


"""
HELPS = """\
class Helps(Nominator):
    def add(self, pod: Pod, node: Value, field: Value) -> None:
        super().add(pod, node, field)
        self._says(pod)

    def _says(self, pod: Pod) -> Expr:
        return as_expr(True)


"""
ASKS = """\
class Asks(Scheduler):
    def skips(self, pod: Pod) -> Expr:
        return self.nominator._says(pod)


"""
TINY = """\
name: tiny
nodes:
  n1: {cpu: CPU}
pods:
  a: {cpu: 1}
  b: {cpu: 1}
scope: {flush: false}
"""


def notes(folder: Path, *classes: str, prop: str, cpu: str = "1") -> tuple[str, ...]:
    """The notes of the verdict in a cluster of two pods and one node, with a file for each of these classes."""
    (folder / "tiny.yaml").write_text(TINY.replace("CPU", cpu))
    files = []
    for number, text in enumerate(classes):
        files.append(folder / f"patch_{number}.py")
        files[-1].write_text(HEAD + text)
    asked = Selection(
        [str(folder / "tiny.yaml")],
        properties=[prop],
        release="1.36.0",
        patches=patches_of([str(file) for file in files]),
    )
    (run,) = plan(asked)
    found = verdict_on(run, Budget(), USUAL)
    assert found.verdict == "HOLDS"
    return tuple(note for note in found.notes if "changes nothing" in note)


def test_one_that_changes_nothing_says_so(tmp_path: Path) -> None:
    assert notes(tmp_path, SAME, prop="S-NOM") == (
        "Same changes nothing in tiny on 1.36.0: the scheduler is the same without it",
    )


def test_one_that_the_property_cannot_see_says_so(tmp_path: Path) -> None:
    assert notes(tmp_path, UNFELT, prop="S-CAP") == (
        "Unfelt changes nothing that decides S-CAP in tiny on 1.36.0: the verdict is the same without it",
    )


def test_one_that_makes_a_difference_says_nothing(tmp_path: Path) -> None:
    assert notes(tmp_path, FELT, prop="S-CAP") == ()


def test_of_two_the_idle_one_is_named(tmp_path: Path) -> None:
    assert notes(tmp_path, FELT, SAME, prop="S-CAP") == (
        "Same changes nothing in tiny on 1.36.0: the scheduler is the same without it",
    )


def test_of_two_that_do_the_same_one_is_idle(tmp_path: Path) -> None:
    assert notes(tmp_path, FELT, FELT.replace("Felt", "Again"), prop="S-CAP") == (
        "Felt changes nothing in tiny on 1.36.0: the scheduler is the same without it",
    )


def test_one_that_another_needs_is_not_idle(tmp_path: Path) -> None:
    """Without it, there would be no scheduler to compare with."""
    assert notes(tmp_path, HELPS, ASKS, prop="S-CAP") == ()


def test_so_it_is_said_of_every_cluster_of_a_range(tmp_path: Path) -> None:
    assert notes(tmp_path, SAME, prop="S-CAP", cpu="1..2") == (
        "Same changes nothing in tiny on 1.36.0: the scheduler is the same without it",
    )


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ((SAME,), ("Same changes nothing in any of these clusters: the scheduler is the same without it",)),
        ((FELT,), ()),
        (
            (FELT, FELT.replace("Felt", "Again")),
            ("Felt changes nothing in any of these clusters: the scheduler is the same without it",),
        ),
        ((HELPS, ASKS), ()),
    ],
    ids=["the same", "felt", "twice", "needed"],
)
def test_a_proof_says_so(tmp_path: Path, texts: tuple[str, ...], told: tuple[str, ...]) -> None:
    files = [tmp_path / f"mine_{number}.py" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(HEAD + text)
    request = ProofRequest(
        pods=1, nodes=1, release="1.36.0", properties=["S-CAP"], patches=list(map(str, files))
    )
    (proof,) = prove_all(request)
    assert proof.verdict == "HOLDS FOR ALL"
    assert tuple(note for note in proof.notes if "changes nothing" in note) == told
