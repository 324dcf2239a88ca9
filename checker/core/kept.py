"""Texts that are kept between runs in files, each signed with the key of its user, and bound to what it is about.

What cannot be written is not kept, and nobody is told; nor is anything kept in a directory into which others can write, or found
there. A file that cannot be read, or that was not written for this user, counts as absent.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from ...base.files import user_directory, write_whole
from ...base.structs import Data
from .in_memory import may_keep
from .signing import is_private, is_signed, make_private, signature

FORMAT = 2
MOST_BYTES = 16 << 20


def cache_directory() -> Path:
    """Where podrace keeps things, compiled code among them: $PODRACE_CACHE, else podrace in $XDG_CACHE_HOME, else ~/.cache/podrace."""
    if own := os.environ.get("PODRACE_CACHE"):
        return Path(own)
    return user_directory("XDG_CACHE_HOME", ".cache")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is written: the text, and the signature of it and its key in hexadecimal."""

    format: int
    key: str
    signature: str
    entry: str


class KeptTexts(Data):
    """Texts in a directory, a file each. What is kept for one `use` is nothing for another."""

    folder: Path
    use: str

    def get(self, key: str) -> str | None:
        """The text that was kept under this key; None if there is none to be trusted."""
        try:
            if not is_private(self.folder) or not may_keep():
                return None
            data = self._path(key).read_bytes()
            if len(data) > MOST_BYTES:
                return None
            written = msgspec.json.decode(data, type=_File)
            signed = bytes.fromhex(written.signature)
            if (written.format, written.key) != (FORMAT, key):
                return None
            return written.entry if is_signed(signed, self.use, *_signed(key, written.entry)) else None
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
            return None

    def put(self, key: str, text: str) -> bool:
        """Keep a text; says whether it was kept."""
        if not is_private(self.folder) or not may_keep():
            return False
        signed = signature(self.use, *_signed(key, text))
        if signed is None:
            return False
        data = msgspec.json.encode(_File(FORMAT, key, signed.hex(), text))
        with suppress(OSError):
            path = self._path(key)
            make_private(self.folder)
            make_private(path.parent)
            if path.parent.is_symlink():  # it would lead out of the directory
                return False
            write_whole(path, data, mode=0o600, durable=False)
            return True
        return False

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def _signed(key: str, text: str) -> tuple[bytes, bytes]:
    return key.encode(), text.encode()
