"""The results of jobs in a file, so that it can be stopped at any moment and go on later with nothing lost.

A file of lines of JSON: a header that says what the jobs are about, then a line for each finished job. A line that was cut off
in the middle, as a kill leaves it, is dropped. Each line is signed together with all lines before it (`core.signing`): one that was
edited, one that came from elsewhere, and the first after one that was taken out, are refused.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from ..core.signing import LEAST, VARIABLE, key_file, signature

_FORMAT = "podrace jobs 2"
_ANY_FORMAT = b"podrace jobs "
_USE = "journal"


class JournalProblem(Exception):
    """A file that cannot be used: one phrase that says why, and what to do."""


class Journal:
    """Results by the name of their job. `about` is what they are results of: the file of other jobs is refused.

    Results are what msgspec makes JSON of; `of` is their type. Raises JournalProblem.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], of: type) -> None:
        self.path, self.results, self.lines = path, dict[str, Any](), dict[str, int]()
        header = msgspec.json.encode({"format": _FORMAT, **about}, order="sorted")
        self._last = self._signed(header)
        try:
            self._file = os.open(
                path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
            )
        except OSError as error:
            why = "it is a link" if error.errno == errno.ELOOP else error.strerror or error
            raise JournalProblem(f"{path}: cannot be used: {why}") from None
        try:
            self._begin(header, of)
        except BaseException as error:
            os.close(self._file)
            if isinstance(error, OSError):
                raise JournalProblem(f"{path}: cannot be used: {error.strerror or error}") from None
            raise

    def add(self, name: str, result: Any) -> None:
        """Note a result; it is on disk when this returns."""
        self.results[name] = result
        written = msgspec.json.encode(result)
        self._last = self._signed(self._last, name.encode(), written)
        try:
            self._write(msgspec.json.encode([name, msgspec.Raw(written), self._last.hex()]))
        except OSError as error:
            raise JournalProblem(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Nothing more is to be noted."""
        os.close(self._file)

    def refuse(self, name: str, why: str) -> JournalProblem:
        """The problem with the line of a job."""
        return JournalProblem(
            f"{self.path}:{self.lines[name]}: {why}: remove the file, and all is done again"
        )

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, header: bytes, of: type) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalProblem(
                f"{self.path}: is in use by another run: name another file, or let that one end"
            ) from None
        with os.fdopen(os.dup(self._file), "rb") as file:
            content = file.read()
        if content:
            os.ftruncate(self._file, self._read(content, header, of))
        else:
            self._write(header)

    def _signed(self, *parts: bytes) -> bytes:
        signed = signature(_USE, *parts)
        if signed is None:
            raise JournalProblem(
                f"{self.path}: cannot be signed, since `{key_file()}` cannot be written or is another user's: set {VARIABLE} to a secret "
                f"of at least {LEAST} characters"
            )
        return signed

    def _write(self, line: bytes) -> None:
        left = memoryview(line + b"\n")
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def _read(self, content: bytes, header: bytes, of: type) -> int:
        """Read what is there; how many bytes of it are whole lines."""
        *lines, rest = content.split(b"\n")
        if not lines or lines[0] != header:
            ours = lines and _ANY_FORMAT in lines[0]
            what = "the journal of other jobs, or of another podrace" if ours else "no journal"
            raise JournalProblem(f"{self.path}: is {what}: name another file, or remove it")
        outer = msgspec.json.Decoder(tuple[str, msgspec.Raw, str])
        inner: msgspec.json.Decoder[Any] = msgspec.json.Decoder(of)
        for number, line in enumerate(lines[1:], 2):
            try:
                name, written, claimed = outer.decode(line)
                self._last = self._signed(self._last, name.encode(), bytes(written))
                if claimed != self._last.hex() or name in self.results:
                    raise ValueError("not what was written here")
                self.results[name], self.lines[name] = inner.decode(written), number
            except (msgspec.MsgspecError, ValueError, RecursionError):
                raise JournalProblem(
                    f"{self.path}:{number}: this line, or one before it, is not as podrace wrote it here: "
                    "remove this line and all after it, and what they say is done again"
                ) from None
        return len(content) - len(rest)
