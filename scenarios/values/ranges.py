"""Ranges: parameters of a scenario, written `1..4`, `500m..2000m` or `1Gi..4Gi`.

A range stands for the whole numbers from its first end to its last, in the unit in which both are written.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from ...base.structs import Data
from ...base.text import one_line
from ...model.language import Parameter
from .yaml_values import Value

_RANGE = re.compile(r"(-?[0-9]{1,19})([A-Za-z]{0,2})\.\.(-?[0-9]{1,19})([A-Za-z]{0,2})", re.ASCII)


class RangeParameter(Parameter):
    """A parameter for which the file gives a range: the multiples of `stride` in lo..hi, in the model's unit of the resource.

    `span` is where in the text of the file the range is written, `written` how, and `suffix` its unit.
    """

    __slots__ = ("line", "span", "stride", "suffix", "written")

    def __init__(self, place: Value, lo: int, hi: int, stride: int, written: str, suffix: str) -> None:
        super().__init__(place.path, lo, hi)
        self.stride, self.written, self.suffix = stride, written, suffix
        self.line, self.span = place.line, (place.node.start_mark.index, place.node.end_mark.index)

    @property
    def like(self) -> tuple[int, int, int]:
        """What two parameters have in common that may have the same values."""
        return self.lo, self.hi, self.stride

    def write(self, value: int) -> str:
        """One of the numbers as the file would have it."""
        return f"{value // self.stride}{self.suffix}"

    def read(self, written: str) -> int:
        """The number that `write` gives this text for."""
        return int(written.removesuffix(self.suffix)) * self.stride


class Range(Data):
    """The multiples of `step` from `least` to `most`, as it is written at `place`."""

    least: Fraction
    most: Fraction
    step: Fraction
    suffix: str
    place: Value

    def open(self, unit: Fraction) -> RangeParameter:
        """The same as a parameter of this unit, of which `step` is a multiple."""
        lo, hi, stride = (int(amount / unit) for amount in (self.least, self.most, self.step))
        return RangeParameter(self.place, lo, hi, stride, self.place.scalar(""), self.suffix)


def is_range(value: Value) -> bool:
    """Whether somebody meant to write a range."""
    return value.is_scalar and ".." in value.node.value


def read_range(value: Value, parse: Callable[[str], Fraction | None], wanted: str, example: str) -> Range:
    """A range whose ends `parse` can read; `wanted` says in words what an end is. Raises Problem."""
    written = value.scalar(wanted)
    match = _RANGE.fullmatch(written)
    if match is None:
        value.fail(f"{value.described} is no range: write two whole numbers in one unit, such as {example}")
    first, suffix, last, other = match.groups()
    if suffix != other:
        value.fail(f"{value.described} mixes two units: write both ends in the same one, such as {example}")
    least, most, step = (parse(number + suffix) for number in (first, last, "1"))
    if least is None or most is None or step is None:
        value.fail(f"{value.described} does not stay within what is possible: both ends must be {wanted}")
    if least > most:
        value.fail(f"{value.described} begins above its end: write {last}{suffix}..{first}{suffix}")
    if least == most:
        value.fail(f"{value.described} is one number: write {one_line(first)}{suffix}")
    return Range(least, most, step, suffix, value)


def integer_or_range(value: Value, lo: int, hi: int) -> int | RangeParameter:
    """A whole number in lo..hi, or a range of such numbers. Raises Problem."""
    if not is_range(value):
        return value.integer(lo, hi)

    def parse(text: str) -> Fraction | None:
        digits = text.removeprefix("-")
        plain = digits.isdigit() and (digits == "0" or not digits.startswith("0"))
        return Fraction(int(text)) if plain and lo <= int(text) <= hi else None

    example = "0..10" if lo == 0 else "-5..10"
    return read_range(value, parse, f"a whole number from {lo} to {hi}", example).open(Fraction(1))


def most_of(number: int | RangeParameter) -> int:
    """The greatest that the number may be."""
    return number.hi if isinstance(number, RangeParameter) else number
