"""What a configuration file can set: every option of every command, read off the functions that are the commands."""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typer.models import OptionInfo

from ...base.structs import Data

Kind = Literal["flag", "choice", "number", "path", "text"]

CONFIG = "config"
"""The option that names the file; the only one that a file cannot set."""


class Option(Data):
    """An option: its name in a file, that of the function's parameter, and what its value is."""

    name: str
    parameter: str
    kind: Kind
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    default: Any = field(default=None, compare=False)

    @property
    def meaning(self) -> object:
        """What must be equal for two commands to share one value."""
        return self.kind, self.repeatable, self.choices, self.least, self.most


def options_of(function: Callable[..., Any]) -> dict[str, Option]:
    """The options of a command by their names in a file: the long name without its dashes, or the only letter."""
    found = {}
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        if get_origin(parameter.annotation) is not Annotated or name == CONFIG:
            continue
        kind, *notes = get_args(parameter.annotation)
        info = next((note for note in notes if isinstance(note, OptionInfo)), None)
        if info is not None:
            default = None if parameter.default is inspect.Parameter.empty else parameter.default
            option = _option(_shown(name, info), name, kind, info, default)
            found[option.name] = option
    return found


def _shown(parameter: str, info: OptionInfo) -> str:
    # In Annotated, Typer takes the first name for the default until it reads the function.
    first = [info.default] if isinstance(info.default, str) else []
    given = [declaration.partition("/")[0] for declaration in (*first, *(info.param_decls or ()))]
    long = [declaration for declaration in given if declaration.startswith("--")]
    chosen = long or given or [parameter.strip("_").replace("_", "-")]
    return chosen[0].lstrip("-")


def _option(name: str, parameter: str, annotation: Any, info: OptionInfo, default: Any) -> Option:
    annotation = _without_none(annotation)
    repeatable = get_origin(annotation) is list
    inner = get_args(annotation)[0] if repeatable else annotation
    if inner is bool:
        return Option(name, parameter, "flag", default=default)
    words = get_args(inner) if get_origin(inner) is Literal else ()
    if isinstance(inner, type) and issubclass(inner, Enum):  # typer takes no list of Literals
        words = tuple(member.value for member in inner)
    if words:
        return Option(name, parameter, "choice", repeatable, words, default=default)
    if inner is int:
        least, most = (int(bound) for bound in (info.min, info.max) if bound is not None)
        return Option(name, parameter, "number", repeatable, least=least, most=most, default=default)
    of_files = inner is Path or (info.metavar or "").startswith(("FILE", "DIR"))
    return Option(name, parameter, "path" if of_files else "text", repeatable, default=default)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (member for member in get_args(annotation) if member is not type(None))
    return annotation


Commands = Mapping[str, Mapping[str, Option]]
"""The options of every command."""
