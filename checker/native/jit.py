"""numba's compiler, told to keep what it compiled beside the other compiled code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numba

from .compile import cache_directory

# numba's settings have no declared types.
_settings: Any = numba.config


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function to native code when it is first called.

    The code is kept in the cache directory, or where $NUMBA_CACHE_DIR says; a place that cannot be
    written means that it is compiled again in every process.
    """
    with _cache_directory():
        try:
            return numba.njit(cache=True, nogil=True)(function)
        except RuntimeError:  # numba found no place that it can write to
            return numba.njit(nogil=True)(function)


@contextlib.contextmanager
def _cache_directory() -> Iterator[None]:
    # numba would write beside this file, which may be read-only. It looks at this setting only while
    # it decorates; other code in this process that uses numba keeps its own.
    chosen = _settings.CACHE_DIR
    if not chosen:
        _settings.CACHE_DIR = str(cache_directory() / "numba")
    try:
        yield
    finally:
        _settings.CACHE_DIR = chosen
