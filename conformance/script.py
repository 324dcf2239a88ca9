"""Cases that are scripts: a list of operations, each with a method of its own that calls the model or checks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outcome import Case, Differs, NotTranslated

REMARKS = {"op", "note", "comment", "description"}


class Script:
    """A case being played: operation `x` is the method `op_x`."""

    case: Case

    def perform(self, number: int, op: Case) -> Any:
        """Perform one operation; what goes wrong names it."""
        if not isinstance(op, Mapping) or not isinstance(op.get("op"), str):
            raise NotTranslated(f"operation {number} has no `op`")
        operation = getattr(self, f"op_{op['op']}", None)
        if operation is None:
            raise NotTranslated(f"operation {number}: there is no operation {op['op']}")
        where = f"operation {number} ({op['op']})"
        try:
            return operation(op)
        except Differs as error:
            raise Differs(f"{where}: {error}") from None
        except NotTranslated as error:
            raise NotTranslated(f"{where}: {error}") from None
        except KeyError as error:
            raise NotTranslated(f"{where} has no {error}") from None

    def only(self, op: Case, *fields: str) -> None:
        """Refuses a field that would change what an operation means; text that names nothing is a remark."""
        named = {*(self.case.get("pods") or {}), *(self.case.get("nodes") or {})}
        for name in sorted(op.keys() - REMARKS - {*fields}):
            if op[name] in named if isinstance(op[name], str) else op[name] is not None:
                raise NotTranslated(f"unknown field {name}")


def keys_of(said: Any) -> list[str]:
    """One key, several, or none, as a list."""
    return [said] if isinstance(said, str) else list(said or ())
