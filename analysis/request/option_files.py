"""Files and directories that options name: found unusable before a long search, and written after it, through no link.

A link in a directory that somebody else made, such as a checkout, would lead to a file of the user's that nobody named.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ...base.files import append_whole, write_draft, write_whole
from ...base.problems import UsageProblem


def refuse_links(option: str, path: Path) -> None:
    """Refuse a path that is a link, or leads through one below the working directory. Raises UsageProblem.

    What is in /dev is the system's: /dev/stdout may be named.
    """
    here = Path.cwd()
    whole = here / path
    if whole.parent in (Path("/dev"), Path("/dev/fd")):
        return
    for place in reversed([whole, *whole.parents]):
        if (place == whole or here in place.parents) and place.is_symlink():
            named = place.relative_to(here) if place.is_relative_to(here) else place
            raise UsageProblem(
                f"{option}: `{named}` is a link, and podrace writes through none: name what it leads to"
            )


def refuse_file(option: str, path: Path) -> None:
    """Refuse what `refuse_links` refuses, and a file where a directory is wanted. Raises UsageProblem."""
    refuse_links(option, path)
    if path.exists() and not path.is_dir():
        raise UsageProblem(f"{option}: `{path}` is a file: name a directory")


def refuse_unwritable(option: str, path: Path) -> None:
    """Find out before a long search that a file could not be written. Raises UsageProblem."""
    refuse_links(option, path)
    target = path if path.exists() else path.parent
    if path.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: it is a directory")
    if not path.exists() and not target.is_dir():
        raise UsageProblem(f"{option}: cannot write `{path}`: there is no directory `{target}`")
    if not os.access(target, os.W_OK):
        raise UsageProblem(f"{option}: cannot write `{path}`: permission denied")


def write_text(option: str, path: Path, text: str) -> None:
    """Write a file in UTF-8. Raises UsageProblem."""
    write_bytes(option, path, text.encode())


def write_bytes(option: str, path: Path, data: bytes) -> None:
    """Write a file, whole or not at all. Raises UsageProblem."""
    refuse_links(option, path)
    try:
        write_whole(path, data)
    except OSError as error:
        raise UsageProblem(f"{option}: cannot write `{path}`: {error.strerror}") from None


def append_text(option: str, path: Path, text: str) -> None:
    """Add to a file in UTF-8, all of it or nothing. Raises UsageProblem."""
    try:
        append_whole(path, text.encode())
    except OSError as error:
        raise UsageProblem(f"{option}: cannot write `{path}`: {error.strerror}") from None


class OutputDirectory:
    """A directory that an option names, made if there is none. Whatever becomes of its name or of what is in it while it is
    open, only files in it are written and removed.

    They take their places all together when it is left: where one of them cannot be written, what was there before stays.
    """

    def __init__(self, option: str, path: Path, inside: OutputDirectory | None = None) -> None:
        self.option, self.path = option, path
        self._handle = -1
        self._within: int | None = None if inside is None else inside._handle
        self._drafts: dict[str, str] = {}
        self._made: list[Path] = []
        self._clears = False

    def __enter__(self) -> OutputDirectory:
        name = self.path if self._within is None else self.path.name
        try:
            if self._within is None:
                refuse_links(self.option, self.path)
                self._made = [p for p in (self.path, *self.path.parents) if not p.exists()]
                self.path.mkdir(parents=True, exist_ok=True)
            elif not self._has(self._within, self.path.name):
                os.mkdir(name, dir_fd=self._within)
                self._made = [self.path]
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            self._handle = os.open(name, flags, dir_fd=self._within)
        except OSError as error:
            raise self._problem(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        except OSError as failed:
            raise self._problem(failed) from None
        finally:
            for draft in self._drafts.values():
                with suppress(OSError):
                    os.unlink(draft, dir_fd=self._handle)
            os.close(self._handle)
            if self._drafts or kind is not None:
                self._remove_what_was_made()

    def has(self, name: str) -> bool:
        """Whether there is something of this name, a link that leads nowhere included."""
        return self._has(self._handle, name)

    def clear(self) -> None:
        """Remove all files in it that are not written until it is left."""
        self._clears = True

    def write(self, name: str, text: str) -> Path:
        """Write a file in UTF-8, in the place of one that may be there. Raises UsageProblem."""
        try:
            draft = write_draft(text.encode(), dir_fd=self._handle)
        except OSError as error:
            raise self._problem(error, name) from None
        if name in self._drafts:
            os.unlink(self._drafts[name], dir_fd=self._handle)
        self._drafts[name] = draft
        return self.path / name

    def _put_in_place(self) -> None:
        written = set(self._drafts)
        for name in list(self._drafts):
            draft = self._drafts[name]
            os.replace(draft, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)
            del self._drafts[name]
        if self._clears:
            for name in sorted(set(os.listdir(self._handle)) - written):
                os.unlink(name, dir_fd=self._handle)

    def _remove_what_was_made(self) -> None:
        with suppress(OSError):  # something is in it
            for path in self._made:
                if self._within is None:
                    path.rmdir()
                else:
                    os.rmdir(path.name, dir_fd=self._within)

    @staticmethod
    def _has(handle: int, name: str) -> bool:
        try:
            os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def _problem(self, error: OSError, name: str = "") -> UsageProblem:
        where = f"cannot write `{self.path / name}`" if name else f"cannot write into `{self.path}`"
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        return UsageProblem(f"{self.option}: {where}: {why}")


def links_in(folder: Path) -> list[Path]:
    """The links anywhere in a directory, which are not followed; none if it is not there."""
    found = []
    for place, folders, files in os.walk(folder):
        found += [
            path for name in [*folders, *files] if stat.S_ISLNK((path := Path(place, name)).lstat().st_mode)
        ]
    return sorted(found)


def beside(path: Path, number: int) -> Path:
    """Where the file of one of several counterexamples goes: the first as it is named, others with a number."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def split_option(option: str) -> tuple[Path, str]:
    """The file and the class that `FILE[:CLASS]` names; the class is empty if it names none."""
    file, colon, name = option.rpartition(":")
    return (Path(file), name) if colon and name.isidentifier() else (Path(option), "")
