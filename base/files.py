"""Files that are written whole or not at all: a disk that fills up, or a kill, leaves what was there before.

What is written goes into a draft in the same directory, which then takes the place of the file.
"""

import errno
import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

_DRAFT = ".podrace-"
_ENDING = ".draft"
_IN_PLACE = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV}
"""Where no draft can be made, or none can take the place of the file: a directory of somebody else's, or a file that is a mount point."""


def user_directory(variable: str, *below_home: str) -> Path:
    """podrace's directory of the user: in $`variable`, which counts only if it is absolute (XDG Base Directory Specification), else in the home directory.

    A relative HOME is passed over as well: things would be kept in whatever directory podrace runs in.
    """
    named = os.environ.get(variable, "")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a container's user that has no name: nothing can be kept
            home = os.devnull
    return (Path(named) if os.path.isabs(named) else Path(home, *below_home)) / "podrace"


def write_whole(path: Path, data: bytes, mode: int = 0o666, durable: bool = True) -> None:
    """Write a file, and not through a link. It keeps its rights if it is there, else they are `mode`. Raises OSError.

    `durable` waits until the data is on the disk. A pipe or a device is written as it is.
    """
    there = _there(path)
    if there is not None and stat.S_ISLNK(there.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if there is not None and not stat.S_ISREG(there.st_mode):
        with open(path, "wb", opener=_as_it_is) as file:
            file.write(data)
        return
    try:
        draft = path.parent / write_draft(data, str(path.parent), mode=mode, durable=durable, like=there)
        try:
            os.replace(draft, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise
    except OSError as error:
        if there is None or error.errno not in _IN_PLACE:
            raise
        _write_in_place(path, data)


def write_draft(
    data: bytes,
    folder: str = ".",
    dir_fd: int | None = None,
    mode: int = 0o666,
    durable: bool = True,
    like: os.stat_result | None = None,
) -> str:
    """Write a draft with the rights of `like`, if that is given, and give its name; nothing is left of one that cannot be written. Raises OSError."""
    name = f"{_DRAFT}{os.urandom(8).hex()}{_ENDING}"
    place = name if dir_fd is not None else os.path.join(folder, name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(place, flags, mode, dir_fd=dir_fd)
    try:
        with open(handle, "wb") as file:
            if like is not None:
                os.fchmod(handle, stat.S_IMODE(like.st_mode))
            file.write(data)
            file.flush()
            if durable:
                os.fsync(handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(place, dir_fd=dir_fd)
        raise
    return name


def is_draft(name: str) -> bool:
    """Whether a file of this name is a draft, as a kill leaves it."""
    return name.startswith(_DRAFT) and name.endswith(_ENDING)


def append_whole(path: Path, data: bytes) -> None:
    """Add to the end of a file, which is made if it is not there: all of the data or nothing. Raises OSError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    with open(handle, "ab", buffering=0) as file:
        before = os.fstat(handle)
        left = memoryview(data)
        try:
            while left:
                left = left[file.write(left) or 0 :]
        except BaseException:
            if stat.S_ISREG(before.st_mode):
                os.ftruncate(handle, before.st_size)
            raise


def _there(path: Path) -> os.stat_result | None:
    """What is at a path. The system's own links are followed: /dev/stdout leads to what the process has."""
    try:
        return path.stat() if path.absolute().parent in (Path("/dev"), Path("/dev/fd")) else path.lstat()
    except FileNotFoundError:
        return None


def _as_it_is(path: str, flags: int) -> int:
    return os.open(path, os.O_WRONLY | os.O_CLOEXEC)


def _write_in_place(path: Path, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(handle, "wb", buffering=0) as file:
        before = os.fstat(handle).st_size
        if len(data) > before:  # room for all of it first
            try:
                os.posix_fallocate(handle, 0, len(data))
            except OSError:
                os.ftruncate(handle, before)
                raise
        left = memoryview(data)
        while left:
            left = left[file.write(left) or 0 :]
        os.ftruncate(handle, len(data))
