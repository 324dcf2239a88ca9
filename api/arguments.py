"""The arguments of `podrace.api`: each declared type says which values are allowed, and what to write instead of others.

`checked` compares a call with the types of its function. It refuses a wrong value before anything is done, and names the argument and the remedy.
Numbers of the budget may be texts, as on the command line: they reach the function as numbers.
"""

import math
import os
import re
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_type_hints

from ..analysis.request.method import Engine
from ..analysis.request.options import (
    MOST_JOBS,
    parse_closing,
    parse_jobs,
    parse_memory,
    parse_skew,
    parse_states,
    parse_timeout,
)
from ..analysis.request.own_modules import MISTAKE
from ..analysis.request.representative_cluster import MOST_KEPT
from ..base.problems import UsageProblem
from ..base.structs import Data
from ..base.text import one_line
from ..properties import Property

MOST_SECONDS = 10**9
"""The longest time that is meant: 30 years."""

P = ParamSpec("P")
T = TypeVar("T")


class _Wrong(Exception):
    """This value, or this element of it, cannot be meant."""

    def __init__(self, value: object) -> None:
        self.value = value


class Takes(Data, slots=False):
    """A declared type: `read` returns the value that an argument stands for, or raises _Wrong or UsageProblem. The message says that the argument is no `what`, and to `write` something else."""

    read: Callable[[Any], Any]
    what: str
    write: str

    def value(self, name: str, given: object) -> Any:
        """What was given for the argument of this name. Raises UsageProblem."""
        try:
            return self.read(given)
        except _Wrong as wrong:
            shown = wrong.value
        except UsageProblem:  # it speaks of an option of the command
            shown = given
        raise UsageProblem(f"{name}: `{_shown(shown)}` is no {self.what}: write {self.write}")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """The function, called only with values that its declared types allow. Raises UsageProblem for other values."""
    form = signature(function)
    hints = get_type_hints(function, include_extras=True)
    takes = {
        name: known
        for name, hint in hints.items()
        for known in getattr(hint, "__metadata__", ())
        if isinstance(known, Takes)
    }

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            given = form.bind(*args, **kwargs)
        except TypeError as problem:
            raise TypeError(f"{function.__name__}(): {problem}") from None
        for name, value in given.arguments.items():
            known = takes.get(name)
            if known is None:
                continue
            if form.parameters[name].kind is Parameter.VAR_POSITIONAL:
                given.arguments[name] = tuple(known.value(name, one) for one in value)
            else:
                given.arguments[name] = known.value(name, value)
        try:
            return function(*given.args, **given.kwargs)
        except MISTAKE as error:  # in a class of the program's
            raise UsageProblem(str(error)) from error

    return call


def as_number(value: T | str | None) -> T | None:
    """The number of an argument: `checked` has turned its text into a number."""
    assert not isinstance(value, str)
    return value


def _shown(value: object) -> str:
    try:
        return one_line(repr(value))
    except Exception:  # an object of somebody else may do anything when it is asked
        return one_line(type(value).__name__)


def _one_of(*kinds: type) -> Callable[[Any], Any]:
    """Values of these types as they are; True and False only where `bool` is among them."""

    def read(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise _Wrong(value)
        return value

    return read


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _among(*words: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _Wrong(value)
        return value

    return read


def _count(parse: Callable[[str], int], most: float = math.inf) -> Callable[[Any], Any]:
    """A whole number from 1 on, or a text that stands for one."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            return parse(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # 1e6
        if not 1 <= _one_of(int)(value) <= most:
            raise _Wrong(value)
        return value

    return read


def _within(least: int, most: int) -> Callable[[Any], Any]:
    """A whole number, or a text of its digits, in this range."""

    def read(value: Any) -> Any:
        number = (
            int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,3}", value, re.ASCII) else value
        )
        if not least <= _one_of(int)(number) <= most:
            raise _Wrong(value)
        return number

    return read


def _seconds(parse: Callable[[str], float], with_zero: bool) -> Callable[[Any], Any]:
    """A time in seconds, or a text that stands for one."""

    def read(value: Any) -> Any:
        if isinstance(value, str):
            return parse(value)
        # What is not a number at all is neither less nor more.
        if not (0 <= _one_of(int, float)(value) <= MOST_SECONDS and (value or with_zero)):
            raise _Wrong(value)
        return value

    return read


def _steps(value: Any) -> Any:
    if _one_of(int)(value) < 0:
        raise _Wrong(value)
    return value


def _listed(read: Callable[[Any], Any], *single: type) -> Callable[[Any], Any]:
    """One value, or several in anything that can be gone through; as a list."""

    def several(value: Any) -> list[Any]:
        if isinstance(value, (*single, bytes)) or not isinstance(value, Iterable):
            return [read(value)]
        return [read(one) for one in value]

    return several


def _property(value: Any) -> Any:
    if not isinstance(value, str) and not (isinstance(value, type) and issubclass(value, Property)):
        raise _Wrong(value)
    return value


Verdict = Annotated[
    Literal["holds", "violated"], Takes(_among("holds", "violated"), "verdict to expect", "holds or violated")
]
Scenario = Annotated[
    str | Path,
    # A number names what its text names, and always did.
    Takes(
        _one_of(str, os.PathLike, int),
        "scenario",
        'what `podrace races` lists, such as "72124", or the path of a YAML file',
    ),
]
Objects = Annotated[
    str | Path | Iterable[str | Path],
    Takes(
        _listed(_one_of(str, os.PathLike), str, os.PathLike),
        "file",
        "the path of what `kubectl get nodes,pods -A -o yaml` printed, of a directory, or a list of such paths",
    ),
]
Pods = Annotated[
    int | str,
    Takes(_within(2, MOST_KEPT), f"number from 2 to {MOST_KEPT}", "how many are kept at most, such as 3"),
]
Nodes = Annotated[
    int | str,
    Takes(_within(1, MOST_KEPT), f"number from 1 to {MOST_KEPT}", "how many are kept at most, such as 2"),
]
Focus = Annotated[str | None, Takes(_or_none(_one_of(str)), "text", 'a pod that waits, such as "shop/web-1"')]
Log = Annotated[str | Path, Takes(_one_of(str, os.PathLike), "file", "the path of an audit log")]
Release = Annotated[str | None, Takes(_or_none(_one_of(str)), "text", 'a release in quotes, such as "1.13"')]
Names = Annotated[
    str | Iterable[str],
    Takes(_listed(_one_of(str), str), "text", "a name in quotes, or a list of such names"),
]
Properties = Annotated[
    str | type[Property] | Iterable[str | type[Property]],
    Takes(
        _listed(_property, str, type),
        "property",
        'an identifier such as "S-CAP", a class of your own, or a list of these',
    ),
]
Steps = Annotated[int | None, Takes(_or_none(_steps), "number of steps", "a whole number, such as 15")]
States = Annotated[
    int | str | None,
    Takes(_or_none(_count(parse_states)), "number of states", 'for example 5_000_000 or "5M"'),
]
Memory = Annotated[
    int | str | None,
    Takes(_or_none(_count(parse_memory)), "amount of memory", 'bytes, for example 1 << 32, or "4G"'),
]
Timeout = Annotated[
    float | str | None,
    Takes(_or_none(_seconds(parse_timeout, with_zero=False)), "duration", 'seconds, for example 60, or "5m"'),
]
Jobs = Annotated[
    int | str | None,
    Takes(
        _or_none(_count(parse_jobs, MOST_JOBS)), "number of threads", f"a whole number from 1 to {MOST_JOBS}"
    ),
]
Chosen = Annotated[Engine, Takes(_among(*get_args(Engine)), "engine", " or ".join(get_args(Engine)))]
Cache = Annotated[
    bool | str | Path,
    Takes(
        _one_of(bool, str, os.PathLike), "directory for verdicts", "the path of one, or False to keep none"
    ),
]
Closing = Annotated[
    float | str,
    Takes(_seconds(parse_closing, with_zero=True), "duration", 'seconds, for example 20, or "1m", or 0'),
]
Flag = Annotated[bool, Takes(_one_of(bool), "truth value", "True or False")]
Dump = Annotated[
    str | Path | None,
    Takes(
        _or_none(_one_of(str, os.PathLike)),
        "file",
        "the path of what `kubectl get nodes,pods -A -o json` printed",
    ),
]
Skew = Annotated[
    float | str,
    Takes(_seconds(parse_skew, with_zero=True), "duration", 'seconds, for example 0.05, or "50ms", or 0'),
]
Time = Annotated[str | None, Takes(_or_none(_one_of(str)), "time", 'for example "2026-02-01T10:00:00Z"')]
Namespace = Annotated[
    str | None, Takes(_or_none(_one_of(str)), "text", 'the name of one in quotes, such as "default"')
]
