"""Files that options name: found unusable before a long search, and written after it."""

from __future__ import annotations

import os
from pathlib import Path

from .options import UsageProblem


def refuse_unwritable(option: str, path: Path) -> None:
    """Find out before a long search that a file could not be written. Raises UsageProblem."""
    target = path if path.exists() else path.parent
    if path.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: it is a directory")
    if not path.exists() and not target.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: there is no directory `{target}`")
    if not os.access(target, os.W_OK):
        raise UsageProblem(f"{option}: cannot write `{path}`: permission denied")


def write_text(option: str, path: Path, text: str) -> None:
    """Write a file in UTF-8. Raises UsageProblem."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageProblem(f"{option}: cannot write `{path}`: {error.strerror}") from None


def beside(path: Path, number: int) -> Path:
    """Where the file of one of several counterexamples goes: the first as it is named, others with a number."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def split_option(option: str) -> tuple[Path, str]:
    """The file and the class that `FILE[:CLASS]` names; the class is empty if it names none."""
    file, colon, name = option.rpartition(":")
    return (Path(file), name) if colon and name.isidentifier() else (Path(option), "")
