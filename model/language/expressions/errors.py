"""Errors of the modelling language: one sentence, with the place in the model's source."""

import contextlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import local

from ....base import structs

_HERE = str(Path(__file__).parent.parent)

Location = tuple[str, int]


def caller_location() -> Location:
    """File and line of the nearest caller outside the language itself."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _of_the_language(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


@cache
def _of_the_language(file: str) -> bool:
    # `with when(...)` reaches the language through the standard library, `__post_init__` through `base`.
    return file.startswith((_HERE, contextlib.__file__, structs.__file__))


class ModelError(Exception):
    """A mistake in a model, found while it is built or traced.

    `location` is the file and line in the model's source; the message starts with it.
    """

    def __init__(self, message: str, location: Location | None = None) -> None:
        self.location = location or caller_location()
        self.message = message
        super().__init__(f"{self.location[0]}:{self.location[1]}: {message}")
        getattr(_meanwhile, "made", []).append(self)


_meanwhile = local()


@contextlib.contextmanager
def none_hidden() -> Iterator[None]:
    """The first mistake that is found meanwhile is raised in the end, if code of the user's has caught it."""
    outer, _meanwhile.made = getattr(_meanwhile, "made", []), list[ModelError]()
    try:
        yield
        for error in _meanwhile.made:
            raise error
    finally:
        _meanwhile.made = outer
