"""Orders that are possible, as `podrace ask` found them, on kube-scheduler's own code."""

from collections.abc import Sequence

import msgspec

from ..analysis.request.plan import Run
from ..analysis.stored.saved_trace import stored_trace
from ..base.problems import Problem
from ..model.history.versions import exact
from ..reports.answers.ask_report import AskAnswer
from ..reports.reproduction import Reproduction
from .modules.toolchain import Go
from .reproducing import Prepared, prepared, reproduce
from .request import Wanted, question_about
from .running import Say


def run_of_answer(run: Run, answer: AskAnswer) -> Prepared:
    """The run of a possible order, for the version that was asked about. Raises Problem."""
    assert answer.finding is not None
    return prepared(
        question_about(stored_trace(run, answer.finding), answer.scenario, Wanted(answer.scenario))
    )


def on_code(runs: Sequence[Run], answers: Sequence[AskAnswer], go: Go, say: Say) -> list[AskAnswer]:
    """The answers, each that is POSSIBLE with what became of its run on kube-scheduler. Raises GoProblem where a version cannot be built."""
    asked: dict[int, Prepared] = {}
    done: dict[int, Reproduction] = {}
    for number, (run, one) in enumerate(zip(runs, answers, strict=True)):
        if one.finding is None:
            continue
        try:
            asked[number] = run_of_answer(run, one)
        except Problem as problem:
            version = f"v{exact(run.composition.release)}"
            done[number] = Reproduction(
                one.scenario, version, one.label, run.property, "NOT RUN", f"{problem}."
            )
    done |= dict(zip(asked, reproduce(list(asked.values()), go, say), strict=True))
    return [
        msgspec.structs.replace(one, on_code=done.get(number, msgspec.UNSET))
        for number, one in enumerate(answers)
    ]
