"""Files are written whole or not at all, whatever goes wrong on the way."""

from __future__ import annotations

import errno
import os
import pwd
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from podrace.base.files import append_whole, is_draft, user_directory, write_draft, write_whole

OLD, NEW = b"old\n", b"new " * 10_000


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """As on a disk on which no file can become longer than that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("before", [{}, {"one": OLD}])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, before: dict[str, bytes]) -> None:
    for name, data in before.items():
        (tmp_path / name).write_bytes(data)
    with largest_file(1000), pytest.raises(OSError, match="File too large"):
        write_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == before
    write_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": NEW}


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_so_does_whatever_fails_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    (tmp_path / "one").write_bytes(OLD)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": OLD}


def test_a_file_keeps_its_rights_and_a_second_name_its_text(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(OLD)
    (tmp_path / "one").chmod(0o640)
    os.link(tmp_path / "one", tmp_path / "two")
    write_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": NEW, "two": OLD}
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [errno.EACCES, errno.EBUSY])
def test_where_no_file_can_take_its_place_it_is_written_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """As in a directory of somebody else's, or where the file is a mount point."""
    (tmp_path / "one").write_bytes(OLD)
    number = (tmp_path / "one").stat().st_ino

    def refused(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "replace", refused)
    with largest_file(1000), pytest.raises(OSError, match="File too large"):
        write_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": OLD}
    for data in (NEW, OLD):
        write_whole(tmp_path / "one", data)
        assert everything(tmp_path) == {"one": data}
    assert (tmp_path / "one").stat().st_ino == number
    with pytest.raises(OSError, match=os.strerror(error)):
        write_whole(tmp_path / "two", NEW)
    assert everything(tmp_path) == {"one": OLD}


def test_a_link_is_not_written_through_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(OLD)
    (tmp_path / "link").symlink_to("one")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(tmp_path / "link", NEW)
    assert everything(tmp_path) == {"one": OLD, "link": OLD}


def test_a_pipe_gets_what_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", OLD)
    assert os.read(reader, 100) == OLD
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_what_is_added_is_added_whole(tmp_path: Path) -> None:
    append_whole(tmp_path / "one", OLD)
    with largest_file(1000), pytest.raises(OSError, match="File too large"):
        append_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": OLD}
    append_whole(tmp_path / "one", NEW)
    assert everything(tmp_path) == {"one": OLD + NEW}


def test_a_draft_is_known_by_its_name(tmp_path: Path) -> None:
    assert is_draft(write_draft(OLD, str(tmp_path)))
    assert not is_draft("report.html")


@pytest.mark.parametrize(
    ("variables", "directory"),
    [
        ({"HOME": "/h"}, "/h/.local/state/podrace"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/podrace"),
        ({"HOME": "/h", "XDG_STATE_HOME": "s"}, "/h/.local/state/podrace"),
        ({"HOME": "h"}, f"{pwd.getpwuid(os.getuid()).pw_dir}/.local/state/podrace"),
    ],
)
def test_a_relative_directory_of_the_user_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], directory: str
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(user_directory("XDG_STATE_HOME", ".local", "state")) == directory


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setenv("HOME", "h")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert str(user_directory("XDG_STATE_HOME", ".local", "state")) == "/dev/null/.local/state/podrace"
