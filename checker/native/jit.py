"""numba's compiler, told to keep what it compiled beside the other compiled code."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from .compile import cache_directory

# numba's settings have no declared types.
_settings: Any = numba.config


# Arrays belong to the callers: counting references to them would cost more than most functions here do.
_OPTIONS: Any = {"nogil": True, "_nrt": False}


def inline(function: Callable[..., Any]) -> Any:
    """Compile a function into the functions that call it."""
    return numba.njit(forceinline=True, **_OPTIONS)(function)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function to native code when it is first called.

    The code is kept in the cache directory, or where $NUMBA_CACHE_DIR says. Where it cannot be kept, or
    cannot be read again, it is compiled once more in every process. It can return no new array.
    """
    return _kept(function, _OPTIONS)


def jit_allocating(function: Callable[..., Any]) -> Any:
    """The same for a function that makes arrays of its own."""
    return _kept(function, {"nogil": True})


def _kept(function: Callable[..., Any], options: Any) -> Any:
    compiled: Any = numba.njit(**options)(function)
    # numba found no place that it can write to: RuntimeError.
    with _cache_directory(), contextlib.suppress(RuntimeError, OSError):
        compiled._cache = _ForgivingCache(function)  # as Dispatcher.enable_caching does
    return compiled


class _ForgivingCache(FunctionCache):
    """numba's cache of one function, in which a damaged file is no error but is replaced."""

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:
            with contextlib.suppress(Exception):
                self.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        with contextlib.suppress(Exception):
            super().save_overload(*arguments)


@cache
def _version() -> str:
    """A name for this version of the functions: numba itself does not see that one that is called has changed."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


@contextlib.contextmanager
def _cache_directory() -> Iterator[None]:
    # numba would write beside this file, which may be read-only. It looks at this setting only while
    # it makes a cache; other code in this process that uses numba keeps its own.
    chosen = _settings.CACHE_DIR
    if not chosen:
        _settings.CACHE_DIR = str(cache_directory() / "numba" / _version())
    try:
        yield
    finally:
        _settings.CACHE_DIR = chosen
