"""Signatures of what podrace keeps between runs, so that it believes nothing that was not written by it, for the same user.

They are HMACs. Their key is in a file that nobody else can read, outside of the directories in which things are kept: whoever can
write into those, or gives back an old copy of them, cannot sign. Where the user's own directory does not last, as in CI, the key
can come from the environment.
"""

import contextlib
import hashlib
import hmac
import os
import stat
from pathlib import Path

from ...base.files import user_directory

VARIABLE = "PODRACE_KEY"
"""In the environment: a secret that takes the place of the key in the user's own directory."""

LEAST = 16
"""So many characters a secret has at least; a shorter one is none."""

_BYTES = 32


def key_file() -> Path:
    """Where the key is: podrace/key in $XDG_STATE_HOME, else in ~/.local/state."""
    return user_directory("XDG_STATE_HOME", ".local", "state") / "key"


def signature(use: str, *parts: bytes) -> bytes | None:
    """What shows that these parts were written for this use; None where there is no key, and none can be made."""
    key = _key()
    if key is None:
        return None
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in (use.encode(), *parts):  # with their lengths, so that nothing moves from one part to the next
        made.update(len(part).to_bytes(8, "big") + part)
    return made.digest()


def is_signed(claimed: bytes, use: str, *parts: bytes) -> bool:
    """Whether this is the signature of these parts."""
    right = signature(use, *parts)
    return right is not None and hmac.compare_digest(claimed, right)


def is_private(folder: Path) -> bool:
    """Whether the user, and nobody else but root, can write into a directory; or could, if it were there."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return found.st_uid in (os.geteuid(), 0) and not others_may_write(folder)


def others_may_write(folder: Path) -> bool:
    """Whether the rights of a directory let others write into it."""
    try:
        return bool(folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    except OSError:
        return False


def make_private(folder: Path) -> None:
    """Make a directory into which nobody else can write, unless it is there. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _key() -> bytes | None:
    secret = os.environ.get(VARIABLE, "")
    if secret:
        return hashlib.sha256(f"podrace {secret}".encode()).digest() if len(secret) >= LEAST else None
    path = key_file()
    try:
        found = _read(path)
        return found if found is not None else _made(path)
    except OSError:
        return None


def _read(path: Path) -> bytes | None:
    """The key; None if there is none that only this user knows. Raises OSError if it is another's."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            raise PermissionError(f"{path} is not this user's")
        if about.st_mode & (stat.S_IRWXG | stat.S_IRWXO) or about.st_size != _BYTES:
            return None
        return file.read()


def _made(path: Path) -> bytes | None:
    """A new key. Where processes make one at once, all get that of the first."""
    import tempfile  # once for each user

    make_private(path.parent)
    handle, draft = tempfile.mkstemp(dir=path.parent)  # readable by nobody else from the beginning
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(_BYTES))
        try:
            os.link(draft, path)
        except FileExistsError:
            if _read(path) is None:  # others could read it
                os.replace(draft, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
    return _read(path)
