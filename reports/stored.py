"""A stored counterexample: all that is needed to execute it again, in one file.

The scenario is kept as its text, the steps by name and arguments, so that a trace outlives the numbers of the
transitions; `fingerprint` tells whether the model is still the one that the run was found in.
"""

from typing import Annotated, Literal

import msgspec

from ..base.problems import Problem
from .document import Fixes, Value
from .filtered import to_json

VERSION = 1
MAX_BYTES = 16 << 20


class StoredScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The scenario: its name, the file it came from, and what that said. `fair_flush` is what the command line may have added."""

    name: str
    file: str
    text: str
    fair_flush: bool = False


class StoredStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step: `part.step`, and its arguments by their names in the model."""

    step: str
    args: dict[str, Value] = {}

    @property
    def label(self) -> str:
        """As the model labels the transition, for example `scheduler.filter(pod=p, node=n1)`."""
        return f"{self.step}({', '.join(f'{name}={value}' for name, value in self.args.items())})"


class StoredLasso(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a liveness: which case is violated, and after how many steps the rest repeats for ever."""

    case: str
    turn: Annotated[int, msgspec.Meta(ge=0)]


class StoredTrace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The document. `fixed_by` are changes that are known to fix the race, put in together; `asks` is the question that the run answers, if it does that."""

    scenario: StoredScenario
    release: str
    property: str
    steps: tuple[StoredStep, ...]
    format: Literal["podrace-trace"] = "podrace-trace"
    version: Literal[1] = 1
    podrace: str = ""
    fixes: Fixes = Fixes()
    expected: Literal["VIOLATED"] = "VIOLATED"
    lasso: StoredLasso | None = None
    fixed_by: tuple[str, ...] = ()
    fingerprint: str = ""
    asks: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


_MARK = b"\xef\xbb\xbf"
"""By which some editors begin a text in UTF-8."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class _Header(msgspec.Struct):
    format: Literal["podrace-trace"]
    version: int


def is_trace(data: bytes) -> bool:
    """Whether a file's content says of itself that it is a trace."""
    try:
        msgspec.json.decode(data.removeprefix(_MARK), type=_Header)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def format_trace(trace: StoredTrace) -> str:
    """The file's text; the same trace gives the same text."""
    return to_json(trace)


def parse_trace(data: bytes | str, file: str) -> StoredTrace:
    """The trace in a file's content; `file` is how messages name it. Raises Problem."""
    if isinstance(data, bytes):
        if data[:2] in _UTF_16:
            raise Problem(f"{file}: UTF-16, as a shell of Windows writes it: write it as UTF-8")
        data = data.removeprefix(_MARK)
    try:
        header = msgspec.json.decode(data, type=_Header)
        if header.version != VERSION:
            raise Problem(
                f"{file}: a trace in version {header.version} of the format, and this podrace reads version {VERSION}: "
                "use the podrace that wrote it"
            )
        trace = msgspec.json.decode(data, type=StoredTrace)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        why = " ".join(str(error).split()) if not isinstance(error, RecursionError) else "nested too deeply"
        shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in why)
        raise Problem(
            f"{file}: no trace of podrace: {shown}: name a file that `podrace check --save-trace` wrote"
        ) from None
    if trace.lasso is not None and trace.lasso.turn > len(trace.steps):
        raise Problem(
            f"{file}: lasso: `turn` is {trace.lasso.turn}, and there are {len(trace.steps)} steps: write after how many of them the rest repeats indefinitely"
        )
    return trace
