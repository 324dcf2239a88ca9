"""From questions to reproductions: cases made, run version by version, and judged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..analysis.stored.replayed import Replayed, replayed
from ..base.problems import Problem
from ..base.structs import Data
from ..base.text import counted
from ..reports.reproduction import Reproduction, ReproductionWord
from .case import Case, case_of, missing_from
from .judging import reproduction_of
from .modules.module import OWN_DRIVERS, KubernetesVersion
from .modules.toolchain import Go
from .request import Question
from .running import Say, built_for, run_cases, write_directory
from .timing.timing import NO_WAITS, Timing, Untimely, timing_of
from .whole_calls import with_whole_calls


class Prepared(Data):
    """A question with its case and the timing of its run; without a case, `reproduction` says why there is none."""

    question: Question
    found: Replayed | None = None
    case: Case | None = None
    timing: Timing = NO_WAITS
    reproduction: Reproduction | None = None

    @property
    def about(self) -> dict[str, Any]:
        """What a document says of the question."""
        return about(self.question, self.found)


def about(question: Question, found: Replayed | None) -> dict[str, Any]:
    """The fields of a document that do not come of the run."""
    finding = question.finding
    if found is not None:
        run = found.run
        title, sentence = run.scenario.title, run.prop.sentence()
        release, name = run.composition.label, run.property
    else:
        assert finding is not None
        title, sentence, release, name = finding.title, finding.sentence, finding.label, finding.property
    return {
        "name": question.name.rpartition(" ")[0],
        "scheduler": str(question.version),
        "release": release,
        "property": name,
        "title": title,
        "sentence": sentence,
    }


def prepared(question: Question) -> Prepared:
    """The case of a question. Raises Problem."""
    if question.trace is None:
        finding = question.finding
        assert finding is not None
        word: ReproductionWord = "HOLDS" if finding.verdict == "HOLDS" else "UNDECIDED"
        made = Reproduction(**about(question, None), verdict=word, words=finding.words)
        return Prepared(question, reproduction=made)
    found = replayed(question.trace, file=question.place)
    if not found.violated:
        raise Problem(
            f"{question.place}: the run is gone: {found.why_not}: make the trace again with `podrace check --save-trace`"
        )
    missing = missing_from(found, by_name=question.version in OWN_DRIVERS)
    if missing:
        made = Reproduction(**about(question, found), verdict="NOT THERE", words=f"{'; '.join(missing)}.")
        return Prepared(question, found, reproduction=made)
    found = with_whole_calls(question.trace, found, question.place)
    try:
        timing = timing_of(found.system, found.trace.path, found.run.composition)
    except Untimely as problem:
        words = f"no durations let this happen: {problem.why}"
        made = Reproduction(
            **about(question, found), verdict="CANNOT BE FORCED", at=problem.step, words=words
        )
        return Prepared(question, found, reproduction=made)
    return Prepared(question, found, case_of(found, question.name, timing.waits), timing)


def prepare(questions: Sequence[Question]) -> list[Prepared]:
    """The cases of all questions."""
    return [prepared(question) for question in questions]


def reproduce(asked: Sequence[Prepared], go: Go, say: Say) -> list[Reproduction]:
    """What became of all of them, in their order: one run of one binary for each version. Raises GoProblem."""
    by_version: dict[KubernetesVersion, list[Prepared]] = {}
    for one in asked:
        if one.case is not None:
            by_version.setdefault(one.question.version, []).append(one)
    done: dict[int, Reproduction] = {}
    for version, members in by_version.items():
        built = built_for(version, go, say)
        say(f"running {counted(len(members), 'run')} on {version}")
        outcomes = run_cases(built, [one.case for one in members if one.case is not None])
        for one in members:
            assert one.case is not None
            assert one.found is not None
            facts: Mapping[str, Any] = {**one.about, "instead": dict(built.instead)}
            done[id(one)] = reproduction_of(one.found, one.case, outcomes[one.case.id], facts, one.timing)
    return [one.reproduction or done[id(one)] for one in asked]


def written(asked: Sequence[Prepared], folder: Path, go: Go) -> list[Reproduction]:
    """Write a module for them into a folder, which is left to the user to run. All are of one version. Raises GoProblem."""
    cases = [one.case for one in asked if one.case is not None]
    if cases:
        version = next(one.question.version for one in asked if one.case is not None)
        told = [
            f"{one.about['name']}: {one.about['property']}: {one.about['sentence']}"
            for one in asked
            if one.case
        ]
        write_directory(folder, version, go, cases, "\n".join(told))
    made = []
    for one in asked:
        made.append(
            one.reproduction
            or Reproduction(
                **one.about,
                verdict="NOT RUN",
                words=f"The module is in {folder}; its README.md has the command.",
                folder=str(folder),
            )
        )
    return made
