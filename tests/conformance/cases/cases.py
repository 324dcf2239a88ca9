"""Conformance cases: how they are read, in which releases they say something, and what comes out of one.

A case is plain data of a JSON file; every mistake in the file is one line that names it. From a release on a case may state its
expectations anew (`expected_from_1_22`). A case that is a script is a list of operations: each has a method of its own, which
calls the model or checks it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from podrace.base.problems import Problem
from podrace.base.text import one_line
from podrace.model.history.versions import RELEASE_ORDER, canonical

Case = Mapping[str, Any]
Status = Literal["PASS", "FAIL", "SKIP"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` is empty for PASS, else one line: what differs, or why the case was skipped."""

    status: Status
    reason: str = ""


Runner = Callable[[Case, str], Outcome]
"""Runs one case of a table on one release, such as "1.22"."""


class NotCovered(Exception):
    """The case needs an extender, topology spread or a plug-in of its own: it is skipped."""


class NotTranslated(Exception):
    """The case says something that its runner cannot put to the model: it fails."""


class Differs(Exception):
    """The model does not do what the case expects: it fails."""


def version(text: str) -> tuple[int, int, int]:
    """`1.22.5` as numbers that compare; a release stands for its first version, and a pre-release for its release. Raises ValueError."""
    parts = [int(part) for part in text.partition("-")[0].split(".")]
    if len(parts) not in (2, 3) or min(parts) < 0:
        raise ValueError(f"no version: {text}")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else 0


def applies(case: Case, release: str) -> bool:
    """Whether a case's `applies_to` covers a version. A release as `max` covers all of its patch versions."""
    bounds = case.get("applies_to") or {}
    at, low, high = version(release), bounds.get("min"), bounds.get("max")
    if low is not None and at < version(low):
        return False
    if high is None:
        return True
    last = version(high)
    return at[:2] <= last[:2] if high.count(".") == 1 else at <= last


def judged(case: Case, release: str, play: Callable[[], object]) -> Outcome:
    """What comes of playing a case, which raises one of the above if it does not come to a good end."""
    if not applies(case, release):
        return Outcome("SKIP", f"does not apply to {release}")
    if canonical(release) is None:
        return Outcome(
            "SKIP",
            f"release {release} is not modelled (the model has {RELEASE_ORDER[0]} to {RELEASE_ORDER[-1]})",
        )
    try:
        play()
    except NotCovered as error:
        return Outcome("SKIP", f"not covered: {error}")
    except NotTranslated as error:
        return Outcome("FAIL", f"not translated: {error}")
    except Differs as error:
        return Outcome("FAIL", str(error))
    return Outcome("PASS")


FORM = (TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)
"""What comes of a value of another form than the schema says."""


def ill_formed(error: Exception) -> str:
    """One sentence for what comes of such a value."""
    return one_line(f"a value has not the form that the schema says ({type(error).__name__}: {error})", 200)


def check(what: str, found: object, expected: object) -> None:
    """Raises Differs unless both are equal."""
    if found != expected:
        raise Differs(f"{what}: {found}, expected {expected}")


def differ(what: str, expected: Any, found: Any) -> Outcome:
    """A failed comparison, or a pass."""
    if expected == found:
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {shown(expected)}, the model gives {shown(found)}")


def any_of_these(what: str, expected: Sequence[str] | str | None, found: Sequence[str]) -> Outcome:
    """Every node that the model lets win is one of those expected, and there is one if any is."""
    allowed = {expected} if isinstance(expected, str) else set(expected or ())
    allowed.discard("")
    if set(found) <= allowed and bool(found) == bool(allowed):
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {shown(allowed)}, the model lets {shown(set(found))} win")


def first_failure(outcomes: Sequence[Outcome]) -> Outcome:
    """The first that is no pass."""
    return next((o for o in outcomes if o.status != "PASS"), Outcome("PASS"))


def shown(value: Any) -> str:
    """A value in a reason; sets in order."""
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return "none" if value is None else str(value)


def needed(case: Case, name: str, where: str = "the case") -> Any:
    """What a field holds that its table cannot do without."""
    if case.get(name) is None:
        raise NotTranslated(f"{where} has no `{name}`")
    return case[name]


_FROM = "expected_from_"
_NOBODY = ("none", "no candidate", "no candidates")


def restated(case: Case, release: str) -> tuple[Any] | None:
    """The newest such expectation that the release is late enough for, if there is one.

    That there is no candidate is null, or said in words.
    """
    since = {_since(key): key for key in case if key.startswith(_FROM)}
    reached = [at for at in since if version(release) >= at]
    if not reached:
        return None
    said = case[since[max(reached)]]
    return (None if isinstance(said, str) and said.strip().lower() in _NOBODY else said,)


def _since(key: str) -> tuple[int, ...]:
    return version(key.removeprefix(_FROM).replace("_", "."))


def listed(value: Any) -> Any:
    """The list in a note such as `{candidates: [...], note: ...}`, or the value itself."""
    if not isinstance(value, Mapping):
        return value
    return next((v for v in value.values() if isinstance(v, list)), None)


REMARKS = {"op", "note", "comment", "description"}


def says_nothing(value: Any) -> bool:
    """Whether a value says nothing of a field that nobody reads: null, false or empty. A number says something, 0 too."""
    return value is None or value is False or value in ("", [], {})


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
        except FORM as error:
            raise NotTranslated(f"{where}: {ill_formed(error)}") from None

    def only(self, op: Case, *fields: str) -> None:
        """Refuses a field that would change what an operation means; text that names nothing is a remark."""
        named = {*(self.case.get("pods") or {}), *(self.case.get("nodes") or {})}
        for name in sorted(op.keys() - REMARKS - {*fields}):
            if op[name] in named if isinstance(op[name], str) else op[name] is not None:
                raise NotTranslated(f"unknown field {name}")


def keys_of(said: Any) -> list[str]:
    """One key, several, or none, as a list."""
    return [said] if isinstance(said, str) else list(said or ())


MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class CaseTable:
    """A file: its table's name, and its cases in order."""

    name: str
    cases: tuple[Case, ...]


def read_table(path: Path) -> CaseTable:
    """The table in a file; raises Problem."""
    try:
        if path.is_dir():
            raise Problem(f"{one_line(str(path), 200)}: is a directory: give a file of conformance cases")
        if path.stat().st_size > MAX_BYTES:
            raise Problem(f"{one_line(str(path), 200)}: is too large for a file of conformance cases")
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise Problem(f"{one_line(str(path), 200)}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Problem(f"{one_line(str(path), 200)}: is not JSON: {one_line(str(error), 100)}") from None
    return _table(one_line(str(path), 200), content)


def _table(file: str, content: Any) -> CaseTable:
    cases = content.get("cases") if isinstance(content, Mapping) else None
    if not isinstance(cases, list):
        raise Problem(f"{file}: expected an object with `table` and a list of `cases`")
    seen: set[str] = set()
    for number, case in enumerate(cases, 1):
        name = case.get("id") if isinstance(case, Mapping) else None
        if not isinstance(name, str) or not name:
            raise Problem(f"{file}: case {number} has no `id`")
        if name in seen:
            raise Problem(f"{file}: two cases have the id `{one_line(name)}`")
        seen.add(name)
    return CaseTable(str(content.get("table", "")), tuple(cases))
