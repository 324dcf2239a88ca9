"""What the driver writes of a case: read, and compared with the run of the model."""

from collections.abc import Set
from pathlib import Path
from typing import Any, Literal

import msgspec

from ..base.problems import UsageProblem
from ..base.text import one_line
from ..reports.reproduction import Differing
from ..reports.step import Value

DriverWord = Literal["DONE", "DIFFERS", "CANNOT BE FORCED", "NOT THERE", "CRASHED"]


class Decision(msgspec.Struct, frozen=True):
    """An answer of a plugin of the user's that the model does not know; `why` are the plugin's own words."""

    plugin: str
    point: str
    answer: str
    why: str = ""
    pod: str = ""
    node: str = ""

    @property
    def kind(self) -> str:
        """The answer, whatever pod and node it is about."""
        return f"{self.plugin} at {self.point}: {self.answer}"

    @property
    def words(self) -> str:
        """The answer in one line."""
        pod = f" for {self.pod}" if self.pod else ""
        node = f" on {self.node}" if self.node else ""
        return f"{self.kind}{pod}{node}{f' ({one_line(self.why, 200)})' if self.why else ''}"


class OutcomeStep(msgspec.Struct, frozen=True):
    """A step that was forced: the points that its actor came through, what can be seen to have changed, and what plugins of the user's decided since the step before.

    `keeps`: the kinds of what is kept in memory that have changed; empty for what is no longer there.
    """

    points: tuple[str, ...] = ()
    real: dict[str, Value] = {}
    keeps: dict[str, str] = {}
    differs: tuple[Differing, ...] = ()
    decided: tuple[Decision, ...] = ()


class OutcomeMove(msgspec.Struct, frozen=True):
    """A move that the code made by itself, and what can be seen to have changed."""

    move: str
    real: dict[str, Value] = {}


class Outcome(msgspec.Struct, frozen=True):
    """One line of the driver's file. `at` is the number of the step that `why` is about; `initial` is what can be seen before the first step, and
    `start` what differs there; `unseen` are kinds of variables that cannot be seen. `kept` is what the scheduler keeps in memory before the first step, by kind, as text or fingerprint, if that was asked for. After the steps `sees` is all that can be seen, and `roam` are the moves that the code made by itself.
    """

    id: str
    verdict: DriverWord
    at: int | None = None
    why: str = ""
    steps: tuple[OutcomeStep, ...] = ()
    initial: dict[str, Value] = {}
    start: tuple[Differing, ...] = ()
    unseen: tuple[str, ...] = ()
    kept: dict[str, str] = {}
    sees: dict[str, Value] = {}
    roam: tuple[OutcomeMove, ...] = ()
    epilogue: dict[str, dict[str, Any]] | None = None
    log: tuple[str, ...] = ()

    @property
    def forced(self) -> tuple[OutcomeStep, ...]:
        """The steps that were forced: of the one that could not be, the driver may tell how far it came."""
        stopped = self.verdict in ("CANNOT BE FORCED", "NOT THERE") and self.at is not None
        return self.steps[: max((self.at or 1) - 1, 0)] if stopped else self.steps

    def decided_by(self, at: int, pods: Set[str]) -> Decision | None:
        """What plugins of the user's decided last: in this step, or, about one of these pods, before it."""
        for number in range(min(max(at, 1), len(self.steps)), 0, -1):
            for decision in reversed(self.steps[number - 1].decided):
                if number >= at or not pods or pods & {decision.pod, *decision.why.split()}:
                    return decision
        return None

    @property
    def keeps(self) -> dict[str, str]:
        """What became of each kind of what the scheduler keeps in memory, over all steps."""
        found = dict(self.kept)
        for number, step in enumerate(self.steps, 1):
            found |= {kind: f"{found.get(kind, '')} {number}: {text}" for kind, text in step.keeps.items()}
        return found

    @property
    def bound_after(self) -> dict[str, float]:
        """After how many seconds pods were bound that waited in the end."""
        return dict((self.epilogue or {}).get("bound") or {})

    @property
    def restarted(self) -> dict[str, str]:
        """The pods that waited until the end, and that are assumed or bound after a restart of the scheduler, each with its node."""
        return dict((self.epilogue or {}).get("restarted") or {})

    @property
    def moments(self) -> dict[str, dict[str, str]]:
        """In which sub-queues pods were, by how long it was waited."""
        return {when: places for when, places in (self.epilogue or {}).items() if when.endswith("s")}


class OutcomeProblem(UsageProblem):
    """What the driver wrote cannot be read."""


def read_outcomes(file: Path) -> dict[str, Outcome]:
    """The outcomes by the names of their cases. Raises OutcomeProblem."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [
            msgspec.convert(_plain(msgspec.json.decode(line)), Outcome) for line in lines if line.strip()
        ]
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, ValueError, AttributeError) as error:
        raise OutcomeProblem(
            f"{file}: what the driver wrote cannot be read: {' '.join(str(error).split())}"
        ) from None
    return {outcome.id: outcome for outcome in found}


def _plain(outcome: dict[str, Any]) -> dict[str, Any]:
    """Without the fields that are null: in Go, so are lists without elements."""
    found = {name: value for name, value in outcome.items() if value is not None}
    steps = [{name: v for name, v in step.items() if v is not None} for step in found.get("steps", ())]
    return {**found, "steps": steps}
