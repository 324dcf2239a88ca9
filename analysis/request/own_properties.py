"""Properties of the user's own: classes in a Python file."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import get_args

from ...base.problems import UsageProblem
from ...base.text import known_names, one_line
from ...properties import PROPERTIES, Property
from ...properties.base.property import Kind
from .option_files import split_option
from .own_modules import hear_class, load_module

_METHOD = {"liveness": "cases"}
"""What a property of each kind must define; `holds` unless named."""


def own_properties(options: Sequence[str], asked: Sequence[str] = ()) -> dict[str, type[Property]]:
    """The properties that `--properties FILE[:CLASS]` names, by identifier.

    Raises UsageProblem, also if `asked`, what `--property` names, leaves out all that an option brings.
    """
    brought = {one: _classes(*one) for one in map(split_option, options)}
    path_of = {cls: path for (path, _), classes in brought.items() for cls in classes}
    found = by_identifier(
        list(path_of), lambda cls, what: _problem(path_of[cls], f"{line_of(cls)}{cls.__name__}{what}")
    )
    _refuse_unasked(brought, {name.strip().upper() for name in asked}, {*PROPERTIES, *found})
    return found


def by_identifier(
    classes: Sequence[type[Property]], problem: Callable[[type[Property], str], UsageProblem]
) -> dict[str, type[Property]]:
    """The classes by identifier. Raises what `problem` makes of a class and of what is wrong with it, such as a method that it lacks."""
    found: dict[str, type[Property]] = {}
    for cls in classes:
        try:
            hear_class(cls)
        except SyntaxError as error:
            own = inspect.getsourcefile(cls) == error.filename
            raise problem(
                cls, f": {'' if own else f'{error.filename}: '}line {error.lineno}: {error.msg}"
            ) from error
        if wrong := _what_is_wrong(cls):
            raise problem(cls, wrong)
        # --property takes them in any case of letters.
        taken = {known.upper(): known for known in PROPERTIES}.get(cls.id.upper())
        if taken is not None:
            raise problem(cls, f": `{taken}` is a property of podrace: choose another `id`")
        alike = [own for own in found if own.upper() == cls.id.upper()]
        if alike:
            raise problem(cls, f": two properties have the id `{alike[0]}`")
        found[cls.id] = cls
    return found


def _refuse_unasked(
    brought: Mapping[tuple[Path, str], Sequence[type[Property]]], asked: Set[str], known: Set[str]
) -> None:
    """A name that is not known has a message of its own, so nothing is said before that."""
    if not asked or not asked <= {name.upper() for name in known}:
        return
    for (path, _), classes in brought.items():
        ids = [cls.id for cls in classes]
        if asked.isdisjoint(name.upper() for name in ids):
            raise _problem(
                path,
                f"--property leaves out {' and '.join(ids)}: add --property {ids[0]}, or take the file out",
            )


def _problem(path: Path, what: str) -> UsageProblem:
    return UsageProblem(f"--properties: {' '.join(str(path).split())}: {what}")


def _classes(path: Path, name: str) -> list[type[Property]]:
    module = load_module(path, _problem)
    found = {
        n: c
        for n, c in vars(module).items()
        if isinstance(c, type)
        and issubclass(c, Property)
        and c.__module__ == module.__name__
        and not n.startswith("_")
    }
    if not found:
        raise _problem(path, "there is no property in it: write a subclass of podrace.properties.Property")
    if name and name not in found:
        raise _problem(path, f"there is no property class `{name}` in it; {known_names(name, list(found))}")
    return [found[name]] if name else list(found.values())


def line_of(cls: type) -> str:
    """For example `line 7: `, where a class of the user's begins; empty if that cannot be told."""
    try:
        return f"line {inspect.getsourcelines(cls)[1]}: "
    except (OSError, TypeError):
        return ""


def file_of(cls: type) -> Path:
    """The file that a property of the user's is written in."""
    return Path(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")


def _what_is_wrong(cls: type[Property]) -> str:
    """What the class of a property lacks, to be written behind its name; empty if nothing."""
    identifier = getattr(cls, "id", None)
    if not isinstance(identifier, str) or not identifier:
        return ' has no identifier: write `id = "MY-RULE"` in the class'
    if not cls.__doc__:
        return " has no docstring: say in one sentence what must hold"
    if cls.kind not in get_args(Kind):
        return f": `{one_line(str(cls.kind))}` is no kind of property: use one of {', '.join(get_args(Kind))}"
    method = _METHOD.get(cls.kind, "holds")
    says_what_is_wrong = method == "holds" and cls.wrong is not Property.wrong
    if getattr(cls, method) is getattr(Property, method) and not says_what_is_wrong:
        return f" is of kind `{cls.kind}` and has no method `{method}`"
    return ""
