"""Selectors of devices, as far as they compare: `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "a"`.

Selectors are expressions in CEL. Read are comparisons of the driver and of single attributes with a constant, by `==`, `!=` and `in`, a boolean attribute
by itself, and all of these joined by `&&`. Of anything else nobody knows here whether a device meets it.
"""

import re
from collections.abc import Mapping

Constant = str | int | bool
Attributes = Mapping[str, Constant]
"""The attributes of a device by domain/name; one without a domain has its driver's."""

_TEXT = r'"(?:[^"\\]*)"' + r"|'(?:[^'\\]*)'"
_CONSTANT = rf"(?:{_TEXT}|-?\d{{1,18}}|true|false)"
_SUBJECT = rf"device\.(?:driver|attributes\[(?P<domain>{_TEXT})\]\.(?P<name>[A-Za-z_]\w*))"
_COMPARISON = re.compile(
    rf"(?P<no>!?){_SUBJECT}(?:(?P<how>==|!=| in )(?P<value>{_CONSTANT}|\[{_CONSTANT}(?:,{_CONSTANT})*\]))?",
    re.ASCII,
)
_TOKEN = re.compile(rf"{_TEXT}|&&|\|\||[=!]=|[A-Za-z0-9_]+|\s+|.", re.ASCII | re.DOTALL)


def meets(expression: str, driver: str, attributes: Attributes) -> bool | None:
    """Whether a device meets a selector; None if nobody knows. Where a device has not the attribute, the evaluation fails, and with it the pod's whole attempt, unless another part is false."""
    found = [_compare(part, driver, attributes) for part in _parts(expression)]
    if False in found:
        return False
    return None if None in found else True


def _parts(expression: str) -> list[str]:
    """What `&&` joins, without white space outside of texts but around `in`, and without parentheses around each."""
    parts = [""]
    for token in _TOKEN.findall(expression):
        if token in ("||", "?"):
            return [expression]
        if token == "&&":
            parts.append("")
        elif not token.isspace():
            parts[-1] += f" {token} " if token == "in" else token
    return [_bare(part) for part in parts]


def _bare(part: str) -> str:
    while part.startswith("(") and part.endswith(")") and ")" not in part[1:-1]:
        part = part[1:-1]
    return part


def _compare(part: str, driver: str, attributes: Attributes) -> bool | None:
    match = _COMPARISON.fullmatch(part)
    if match is None:
        return None
    name = match["name"]
    actual = driver if name is None else attributes.get(f"{match['domain'][1:-1]}/{name}")
    if actual is None:
        return None
    if match["how"] is None:
        return None if not isinstance(actual, bool) else actual is not bool(match["no"])
    if match["no"]:
        return None
    if match["how"] == " in ":
        listed = re.findall(_CONSTANT, match["value"]) if match["value"].startswith("[") else []
        return any(_same(actual, _constant(one)) for one in listed) if listed else None
    if match["value"].startswith("["):
        return None
    return _same(actual, _constant(match["value"])) is (match["how"] == "==")


def _constant(text: str) -> Constant:
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if text[0] in "\"'" else int(text)


def _same(one: Constant, other: Constant) -> bool:
    return type(one) is type(other) and one == other
