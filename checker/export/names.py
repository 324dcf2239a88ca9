"""Legal names in another language: close to the model's own, and never two things with one name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...model.language import Transition


class Names:
    """Hands out identifiers of letters, digits and underscores; `reserved` ones are never given to anyone."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)

    def new(self, text: str) -> str:
        """A name that nobody has yet: `text` where it is legal and free, else close to it."""
        plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
        if not plain or not plain[0].isalpha():
            plain = f"x_{plain}".rstrip("_")
        name, number = plain, 1
        while name in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name


def words_of(transition: Transition) -> str:
    """What names a transition: part, step and the values of its arguments."""
    values = (str(getattr(value, "name", value)) for _, value in transition.args)
    return " ".join((transition.part, transition.step, *values))


def remark(transition: Transition) -> str:
    """The transition's label and the first line of its documentation."""
    first = transition.doc.strip().partition("\n")[0]
    return f"{transition.label}: {first}" if first else transition.label
