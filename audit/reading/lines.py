"""The lines of files: plain, gzip, bzip2 or xz, or the standard input. A line is never held beyond a limit, and what cannot be read is counted."""

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ...base.problems import Problem
from ...base.text import one_line
from ...reports.audit_report import MOST_PLACES

LONGEST = 64 << 20
"""So many bytes a line, or a document over several lines, may have."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_PACKED: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    _GZIP: lambda stream: gzip.GzipFile(fileobj=stream),  # type: ignore[dict-item, return-value]
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""By what each begins with."""

_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)
_MARK = b"\xef\xbb\xbf"
"""By which some programs begin a text in UTF-8."""

_SET_ASIDE = re.compile(r"-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}(?=\.|$)|\.\d{8}-\d{6}$")
"""The time in the name of a file that kube-apiserver (`audit-2026-01-01T00-00-00.000.log`), or a kubelet of a container's log (`0.log.20260101-000000`), has set aside."""


def whole_log(name: str) -> str:
    """The log that a file is a part of: what kube-apiserver sets aside when a file is full belongs to the file beside it that it still writes."""
    if name == "-":
        return name
    path = Path(name).absolute()
    return str(path.with_name(_SET_ASIDE.sub("", re.sub(r"\.(gz|bz2|xz)$", "", path.name))))


def open_source(
    name: str, option: str = "", remedy: str = "name an audit log, or - for the standard input"
) -> IO[bytes]:
    """The bytes of a file, decompressed. Raises Problem, which begins with the option that names it."""
    shown = f"{option} {one_line(name, 200)}".strip()
    try:
        if name == "-":
            stream: IO[bytes] = sys.stdin.buffer
        else:
            path = Path(name)
            if path.is_dir():
                raise Problem(f"{shown}: a directory: name the files in it, such as {shown}/*.log")
            stream = path.open("rb")
    except FileNotFoundError:
        raise Problem(f"{shown}: no such file: {remedy}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem(f"{shown}: cannot be read: {reason}") from None
    found = _decompressed(stream)
    try:
        start = found.peek(len(_ZSTD))[: len(_ZSTD)]  # type: ignore[attr-defined]
    except (*_DAMAGED, OSError):
        return found  # told where it is read
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Problem(f"{shown}: UTF-16, as a shell of Windows writes it: write it as UTF-8")
    if start[: len(_ZSTD)] == _ZSTD:
        raise Problem(f"{shown}: packed by zstd: unpack it, as with zstdcat")
    if start[: len(_MARK)] == _MARK:
        found.read(len(_MARK))
    return found


def _decompressed(stream: IO[bytes]) -> IO[bytes]:
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    start = buffered.peek(max(map(len, _PACKED)))
    return next((unpack(buffered) for mark, unpack in _PACKED.items() if start.startswith(mark)), buffered)


class Skipped(Counter[str]):
    """How many lines were skipped, by why. `file` and `line`: what was read last; `begun`: the line with which that begins; `places`: where the first ones were, by why."""

    def __init__(self) -> None:
        super().__init__()
        self.file, self.line, self.begun = "", 0, 0
        self.places: dict[str, list[str]] = {}

    def add(self, why: str, lines: int = 1, begun: int | None = None) -> None:
        """So many lines more, which begin where `begun` says; 0: their place is not known."""
        self[why] += lines
        begun = self.begun if begun is None else begun
        places = self.places.setdefault(why, [])
        if begun and len(places) <= MOST_PLACES:
            places.append(f"{self.file}:{begun}" + (f"-{self.line}" if self.line > begun else ""))


def lines_of(
    stream: IO[bytes], skipped: Skipped, read: Callable[[int], None], longest: int = LONGEST
) -> Iterator[bytes]:
    """The lines that are not empty, each with its end if it has one. `skipped` counts what is left out, `read` is told of bytes."""
    try:
        while line := stream.readline(longest):
            skipped.line += 1
            read(len(line))
            if len(line) == longest and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = stream.readline(1 << 20)
                    read(len(line))
                skipped.add(f"longer than {longest >> 20} MiB", begun=skipped.line)
            elif not line.isspace():
                yield line
    except _DAMAGED:
        skipped.add("a compressed file that is cut off or damaged", begun=skipped.line + 1)
    except OSError:
        skipped.add("a file that could not be read to its end", begun=skipped.line + 1)
