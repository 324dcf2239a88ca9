"""`podrace prove`: every cluster up to a size, whatever the sizes and priorities."""

from collections.abc import Sequence
from pathlib import Path

from ...base.problems import UsageProblem
from ...checker.jobs import LostWorker
from ...checker.parametric.grounding import TooManyCases
from ...checker.parametric.regions import UndecidedRegions
from ...reports.answers.proof_report import Proof
from ..request.method import NOBODY, Watcher
from ..request.option_files import OutputDirectory
from .proof_of_property import Prover
from .proof_request import ProofQuestion, ProofRequest, questions


def prove_all(request: ProofRequest, watcher: Watcher = NOBODY) -> list[Proof]:
    """The proof of each property, or what stands against it. Raises UsageProblem."""
    proofs: list[Proof] = []
    for question in list(questions(request)):
        proofs.append(prove_one(request, question, watcher, is_cut=bool(proofs) and proofs[-1].stopped))
    return proofs


def prove_one(request: ProofRequest, question: ProofQuestion, watcher: Watcher, is_cut: bool) -> Proof:
    """The proof of one property; `is_cut`: podrace was told to end before this one began. Raises UsageProblem."""
    prover = Prover(request, question, watcher)
    try:
        return prover.cut() if is_cut else prover.run()
    except (TooManyCases, UndecidedRegions, LostWorker) as error:
        raise UsageProblem(f"cannot go on: {error}") from None


def write_examples(proofs: Sequence[Proof], directory: Path) -> list[str]:
    """Write the simplest cluster of each group as a scenario file; what could not be written, and why. Raises UsageProblem."""
    unwritten = []
    with OutputDirectory("--examples", directory) as folder:
        for proof in proofs:
            for number, group in enumerate(proof.groups, 1):
                if group.scenario:
                    folder.write(f"{proof.property.lower()}-group-{number}.yaml", group.scenario)
                else:
                    unwritten.append(f"{proof.property}, group {number} is not written: {group.unwritten}")
    return unwritten
