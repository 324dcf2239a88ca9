"""What `podrace replay` says, as `-o json` has it."""

from typing import Literal

import msgspec

from ..document import Finding, Fixes
from ..step import ShownStep


class ReplayAnswer(msgspec.Struct, frozen=True):
    """What became of a stored counterexample: `VIOLATED` if it is still one, with what reports know of it as `finding`.

    `GONE`: it is no longer possible, or violates the property no longer; `words` say why, and `steps` are those that could be
    taken. `changed`: the model is another one than the trace was found in.
    """

    trace: str
    scenario: str
    release: str
    fixes: Fixes
    property: str
    verdict: Literal["VIOLATED", "GONE"]
    words: str
    changed: bool
    steps: tuple[ShownStep, ...]
    finding: Finding | None = None
