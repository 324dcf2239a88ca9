"""What `-f` names: files, directories and the standard input, as texts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..scenarios.reader.errors import ScenarioError, one_line

MOST_BYTES = 64 << 20
"""A dump of some ten thousand pods; what is larger is no manifest."""

SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name as messages show it, and its text."""

    file: str
    text: str


def read_sources(names: Sequence[str], recursive: bool = False) -> Iterator[Source]:
    """The texts that these names stand for, directories in the order of their files' names.

    Raises ScenarioError for what cannot be read.
    """
    if names.count("-") > 1:
        raise ScenarioError("-f -: the standard input can be read only once: name it once")
    for name in names:
        if name == "-":
            yield Source("<stdin>", _text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>"))
            continue
        for path in _files(name, recursive):
            yield _source(path)


def _files(name: str, recursive: bool) -> list[Path]:
    path = Path(name)
    try:
        if not path.is_dir():
            return [path]
        inside = path.rglob("*") if recursive else path.iterdir()
        found = sorted(p for p in inside if p.suffix in SUFFIXES and p.is_file())
    except (OSError, ValueError) as error:
        raise _unreadable(one_line(name, 200), error) from None
    if not found:
        below = "" if recursive else "; -R looks into the directories below it, too"
        raise ScenarioError(
            f"{one_line(name, 200)}: no file in this directory ends in {', '.join(SUFFIXES)}{below}"
        )
    return found


def _source(path: Path) -> Source:
    file = one_line(str(path), 200)
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ScenarioError(
            f"{file}: no such file or directory: -f names manifests, a directory of them, or - for the standard input"
        ) from None
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    return Source(file, _text(data, file))


def _unreadable(file: str, error: Exception) -> ScenarioError:
    reason = getattr(error, "strerror", None) or str(error)
    return ScenarioError(f"{file}: cannot be read: {reason}")


def _text(data: bytes, file: str) -> str:
    """The text; a byte order mark of UTF-8 is skipped, every other encoding refused."""
    if len(data) > MOST_BYTES:
        raise ScenarioError(
            f"{file}: larger than {MOST_BYTES >> 20} MiB: dump fewer objects, or name fewer kinds"
        )
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ScenarioError(
            f"{file}:1: the text is in UTF-16 or UTF-32: save it in UTF-8 "
            "(in PowerShell: kubectl get ... | Out-File -Encoding utf8)"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{file}:{line}: not a text in UTF-8: save the file in that encoding") from None
