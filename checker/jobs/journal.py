"""The results of jobs in a file, so that it can be stopped at any moment and go on later with nothing lost.

A file of lines of JSON: a header that says what the jobs are about, then a line for each finished job. A line that was cut off
in the middle, as a kill leaves it, is dropped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import msgspec

_FORMAT = "podrace jobs 1"


class JournalProblem(Exception):
    """A file that cannot be used: one phrase that says why, and what to do."""


class Journal:
    """Results by the name of their job. `about` is what they are results of: the file of other jobs is refused.

    Results are what msgspec makes JSON of; `of` is their type. Raises JournalProblem.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], of: type) -> None:
        self.path, self.results = path, dict[str, Any]()
        header = msgspec.json.encode({"format": _FORMAT, **about}, order="sorted").decode()
        try:
            kept = self._read(header, of)
            self._file: TextIO = path.open("a", encoding="utf-8")
            if kept is None:
                self._write(header)
            else:
                os.truncate(path, kept)
        except OSError as error:
            raise JournalProblem(f"{path}: cannot be used: {error.strerror or error}") from None

    def add(self, name: str, result: Any) -> None:
        """Note a result; it is on disk when this returns."""
        self.results[name] = result
        try:
            self._write(msgspec.json.encode([name, result]).decode())
        except OSError as error:
            raise JournalProblem(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Nothing more is to be noted."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, header: str, of: type) -> int | None:
        """Read what is there; how many bytes of it are whole lines, or None for a new file."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return None
        *lines, rest = self.path.read_bytes().split(b"\n")
        size = self.path.stat().st_size - len(rest)
        if not lines or lines[0].decode("utf-8", "replace") != header:
            what = "the journal of other jobs" if lines and _FORMAT.encode() in lines[0] else "no journal"
            raise JournalProblem(f"{self.path}: is {what}: name another file, or remove it")
        decoder = msgspec.json.Decoder(tuple[str, of])  # type: ignore[valid-type]
        for number, line in enumerate(lines[1:], 2):
            try:
                name, result = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise JournalProblem(
                    f"{self.path}:{number}: is damaged: remove this line, and what it says is done again"
                ) from None
            self.results[name] = result
        return size
