"""The code of one search: there at once, and better where the search turns out to be long."""

from __future__ import annotations

from threading import Thread

from .compile import Care, Code, Functions, compile_ir


class Tiers(Functions):
    """Functions compiled in haste, until `improve` has replaced them by the same functions compiled with care.

    An address stays valid as long as this object lives, so whoever keeps one loses nothing but time.
    """

    def __init__(self, ir: str) -> None:
        self._ir = ir
        self._codes: list[Code] = [compile_ir(ir, care=Care.HASTE)]
        self._better: Thread | None = None

    def __getitem__(self, name: str) -> int:
        return self._codes[-1][name]

    def improve(self) -> None:
        """Begin to compile with care, beside the search; once is enough."""
        if self._better is None:
            self._better = Thread(target=self._compile, name="podrace-compiler")
            self._better.start()

    def wait(self) -> None:
        """Wait until the better code is there, if it was begun."""
        if self._better is not None:
            self._better.join()

    def _compile(self) -> None:
        self._codes.append(compile_ir(self._ir))
