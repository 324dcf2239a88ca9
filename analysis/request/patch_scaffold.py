"""A file to begin a patch with, and what there is to override."""

import ast
import inspect
import keyword
import re
import sys
import textwrap
import typing
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from ... import patching
from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import known_names, one_line
from ...model.history import Composition, resolve
from ...model.history.versions import exact
from ...model.language import Component
from ...model.language.declarations.component import combine
from ...patching import call_of
from .option_files import refuse_unwritable, write_text
from .patch_checks import PARTS, overridable, shown_parameters

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def new_patch(name: str, part: str, method: str, release: str, directory: Path) -> Path:
    """Write NAME.py with one class that overrides one method as the release has it. Raises UsageProblem."""
    if not _NAME.fullmatch(name):
        raise UsageProblem(
            f"`{one_line(name)}` cannot name a class: write letters, digits and _, such as MyPatch"
        )
    module = _snake(name)
    path = directory / f"{module}.py"
    refuse_unwritable("new-patch", path)
    if path.exists():
        raise UsageProblem(f"{path} is there already: choose another name")
    if module in sys.stdlib_module_names or find_spec(module) is not None:
        raise UsageProblem(
            f"`{name}` would be written to {module}.py, which hides the module `{module}` from programs in that folder: "
            f"choose another name, such as {_camel(name)}Patch"
        )
    write_text("new-patch", path, scaffold(name, part, method, release))
    return path


def scaffold(name: str, part: str, method: str, release: str) -> str:
    """The text of the file: the class derives from the one whose method the release uses. Raises UsageProblem."""
    cls = _class_of(part, release)
    methods = overridable(cls)
    if method not in methods:
        raise UsageProblem(
            f"{part} has no method `{one_line(method)}` in {exact(release)}; {known_names(method, sorted(methods))}"
        )
    function = methods[method]
    home = _home(cls, method)
    base, derived = _to_derive_from(cls, home, part)
    signature, named = _signature(function)
    names = sorted(named & function.__globals__.keys())
    imports = _imports(
        {derived.partition("(")[0]: base, **{n: function.__globals__[n] for n in names}}, function.__module__
    )
    written = _camel(name)
    if keyword.iskeyword(written) or written in {base.__name__, *names}:
        raise UsageProblem(
            f"`{name}` cannot name this class, as {written} means something else in its file: choose another name, such as {written}Patch"
        )
    doc = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    arguments = ", ".join(_passed(p) for p in list(inspect.signature(function).parameters.values())[1:])
    answer = "" if _returns_nothing(function) else "return "
    kind = " (a step: what it does is atomic)" if _is_step(cls, method) else ""
    return (
        f'"""{name}: a proposed change to {part}, written against {exact(release)}.\n\n'
        f"podrace verify {_snake(name)}.py --release {exact(release)}\n"
        '"""\n\n'
        f"from __future__ import annotations\n\n{imports}\n\n\n"
        f"class {written}({derived}):\n"
        '    """Say in one sentence what changes, and why."""\n\n'
        f"    def {method}({signature}:\n"
        f'        """{doc}"""\n'
        f"        # As {exact(release)} has it{kind}, in {home.__module__}. Change this:\n"
        f"        {answer}super().{method}({arguments})\n"
    )


class Overridable(Data):
    """A part of the scheduler, and what can be overridden in it: the calls for people, each with its row for programs."""

    part: str
    summary: str
    methods: tuple[tuple[str, dict[str, Any]], ...]


def overridables(part: str | None, release: str, word: str = "") -> list[Overridable]:
    """What can be overridden in each part (or in one); with a `word`, the methods that say it. Raises UsageProblem."""
    found = []
    for name in [_known(part)] if part else list(PARTS):
        cls = _class_of(name, release)
        methods = tuple(
            (f"{method}({shown_parameters(function)})", _row(name, cls, method, function))
            for method, function in _saying(word, cls)
        )
        if methods or not word:
            found.append(Overridable(name, _first_line(PARTS[name]), methods))
    return found


def rows_of(parts: Iterable[Overridable]) -> list[dict[str, Any]]:
    """The same for programs: a row for each method."""
    return [row for part in parts for _, row in part.methods]


def _row(part: str, cls: type[Component], method: str, function: FunctionType) -> dict[str, Any]:
    return {
        "component": part,
        "method": method,
        "parameters": [p.name for p in list(inspect.signature(function).parameters.values())[1:]],
        "step": _is_step(cls, method),
        "module": _home(cls, method).__module__,
        "summary": _first_line(function),
    }


def _saying(word: str, cls: type[Component]) -> list[tuple[str, FunctionType]]:
    """The public methods that can be overridden whose name or docstring, which names the function of upstream's, has a word."""
    return [
        (method, function)
        for method, function in sorted(overridable(cls).items())
        if not method.startswith("_")
        and word.lower() in f"{method} {inspect.getdoc(getattr(cls, method)) or ''}".lower()
    ]


def _known(part: str) -> str:
    if part not in PARTS:
        raise UsageProblem(f"--component: unknown part `{one_line(part)}`; {known_names(part, list(PARTS))}")
    return part


def _class_of(part: str, release: str) -> type[Component]:
    """The class of a part as the release has it."""
    base = PARTS[_known(part)]
    composition: Composition = resolve(release)
    return combine(base, [cls for cls in composition.classes if issubclass(cls, base)])


def _home(cls: type, method: str) -> type:
    return next(base for base in cls.__mro__ if method in vars(base))


def _to_derive_from(cls: type, home: type, part: str) -> tuple[type, str]:
    """What a patch of a method of `home` derives from, and how its file says so: the part, or a class on top of it that has the method."""
    if issubclass(PARTS[part], home):
        return PARTS[part], part
    if getattr(patching, home.__name__, None) is home:
        return home, home.__name__
    changes = [base for base in cls.__mro__ if issubclass(base, home) and call_of(base)]
    base = home if home in changes else changes[0]
    return base, call_of(base)


def _is_step(cls: type, method: str) -> bool:
    return any(hasattr(vars(base).get(method), "__podrace_step__") for base in cls.__mro__)


def _imports(things: Mapping[str, Any], place: str) -> str:
    """Import lines for names, by module: podrace.patching, if it has them; of a constant, else, where it is used."""
    modules: dict[str, set[str]] = {}
    for name, thing in things.items():
        is_there = name == "before" or getattr(patching, name, None) is thing
        home = patching.__name__ if is_there else None
        own = thing.__module__ if isinstance(thing, type) else "typing" if name in vars(typing) else place
        module = home or own
        if module != "builtins":
            modules.setdefault(module, set()).add(name)
    return "\n".join(
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(modules.items())
    )


def _signature(function: FunctionType) -> tuple[str, set[str]]:
    """`self, pod: Pod) -> None`: everything after the bracket as it is written, and the names in it."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    written = ast.parse("\n".join(lines)).body[0]
    assert isinstance(written, ast.FunctionDef)
    head = [line.strip() for line in lines[written.lineno - 1 : written.body[0].lineno - 1]]
    text = " ".join(line for line in head if not line.startswith("#")).partition("(")[2]
    shown = text.strip().removesuffix(":").replace(", )", ")").replace(" )", ")")
    parts = [written.args, *([written.returns] if written.returns else [])]
    return shown, {n.id for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)}


def _passed(parameter: inspect.Parameter) -> str:
    """How a method hands the parameter on to the one that it overrides."""
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
        return f"{parameter.name}={parameter.name}"
    return f"{_stars(parameter)}{parameter.name}"


def _stars(parameter: inspect.Parameter) -> str:
    """What stands before the name of a parameter that takes any number of arguments."""
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return "*"
    return "**" if parameter.kind is inspect.Parameter.VAR_KEYWORD else ""


def _returns_nothing(function: FunctionType) -> bool:
    return function.__annotations__.get("return") in (None, "None")


def _first_line(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
