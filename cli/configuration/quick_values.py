"""Values of options without pydantic: typer turns texts into values with it, and its import takes longer than a small command.

What is a value already does not wait for it: a default, a text that is to stay a text, and the name of a choice.
"""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

import typer

from ...base.text import one_line


class QuickValue:
    """In the place of typer's own coercion of one parameter, which is asked only for what is not a value already."""

    def __init__(self, parameter: Any) -> None:
        self._typers = parameter.get_runtime_param
        self._default = parameter.default
        self._annotation = parameter.type_descriptor.annotation
        self._info = parameter.type_descriptor.parameter_info

    def itself(self) -> QuickValue:
        """What typer asks a parameter for."""
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """As typer's."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if value is self._default or (self._annotation is str and isinstance(value, str)):
            return value
        if self._annotation == list[str] and isinstance(value, (list, tuple)):
            return list(value)
        if get_origin(self._annotation) is Literal:
            return _choice(get_args(self._annotation), value, param, ctx)
        if self._annotation is int:
            return _number(self._info.min, self._info.max, value, param, ctx)
        return self._typers().coerce(value, param=param, ctx=ctx)


def made_quick(parameters: list[Any]) -> list[Any]:
    """The parameters of a command of typer's, that take this way from here on."""
    for parameter in parameters:
        if "get_runtime_param" not in vars(parameter):
            parameter.get_runtime_param = QuickValue(parameter).itself
    return parameters


def _number(least: float | None, most: float | None, value: Any, param: Any, ctx: Any) -> int:
    text = str(value)
    number = int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text, re.ASCII) else None
    if number is None or (least is not None and number < least) or (most is not None and number > most):
        shown = one_line(text, 40)
        raise typer.BadParameter(f"`{shown}` is not a number from {least} to {most:,}", ctx=ctx, param=param)
    return number


def _choice(known: tuple[str, ...], value: Any, param: Any, ctx: Any) -> str:
    if value not in known:
        raise typer.BadParameter(f"'{value}' is not one of {', '.join(known)}", ctx=ctx, param=param)
    return str(value)
