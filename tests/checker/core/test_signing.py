"""The key with which podrace signs what it keeps: who can have it, and what a signature is about."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from podrace.checker.core.signing import is_private, is_signed, key_file, signature


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PODRACE_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def made(*parts: bytes, use: str = "test") -> bytes:
    found = signature(use, *parts)
    assert found is not None
    return found


def test_a_signature_is_about_its_use_and_its_parts() -> None:
    signed = made(b"ab", b"c")
    assert is_signed(signed, "test", b"ab", b"c")
    assert not is_signed(signed, "test", b"a", b"bc")
    assert not is_signed(signed, "test", b"abc")
    assert not is_signed(signed, "testab", b"c")
    assert not is_signed(signed, "other", b"ab", b"c")
    assert not is_signed(b"", "test", b"ab", b"c")


def test_the_key_is_the_users_own(state: Path) -> None:
    before = os.umask(0)
    try:
        made()
    finally:
        os.umask(before)
    assert key_file() == state / "podrace" / "key"
    assert (key_file().stat().st_mode & 0o777, key_file().stat().st_size) == (0o600, 32)
    assert key_file().parent.stat().st_mode & 0o777 == 0o700
    assert list(key_file().parent.iterdir()) == [key_file()]  # no drafts


def test_where_the_key_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert key_file() == Path("/home/somebody/.local/state/podrace/key")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_could_read_is_replaced(mode: int) -> None:
    signed, key = made(b"x"), key_file().read_bytes()
    key_file().chmod(mode)
    assert not is_signed(signed, "test", b"x")
    assert key_file().read_bytes() != key
    assert key_file().stat().st_mode & 0o777 == 0o600


def test_a_key_of_another_size_is_replaced() -> None:
    made()
    key_file().write_bytes(b"")
    assert made(b"x") == made(b"x")
    assert len(key_file().read_bytes()) == 32


def test_a_link_is_no_key(tmp_path: Path) -> None:
    """Or somebody else could choose the key."""
    made()
    (tmp_path / "theirs").write_bytes(bytes(32))
    (tmp_path / "theirs").chmod(0o600)
    key_file().unlink()
    key_file().symlink_to(tmp_path / "theirs")
    assert signature("test", b"x") is None
    assert not is_signed(bytes(32), "test", b"x")


def test_without_a_place_for_the_key_nothing_is_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert signature("test", b"x") is None
    assert not is_signed(b"", "test", b"x")


def test_all_that_begin_at_once_have_one_key() -> None:
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(lambda _: signature("test", b"x"), range(64)))) == 1


def test_a_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    monkeypatch.setenv("PODRACE_KEY", "sixteen letters.")
    signed = made(b"x")
    assert not state.exists()
    monkeypatch.setenv("PODRACE_KEY", "sixteen letters,")
    assert not is_signed(signed, "test", b"x")
    monkeypatch.setenv("PODRACE_KEY", "fifteen letters")
    assert signature("test", b"x") is None
    monkeypatch.setenv("PODRACE_KEY", "")  # as CI gives a secret that there is not
    assert made(b"x") != signed
    assert state.exists()


def test_directories_of_ones_own(tmp_path: Path) -> None:
    assert is_private(tmp_path)
    assert is_private(tmp_path / "not yet")
    for mode, expected in ((0o755, True), (0o775, False), (0o757, False), (0o1777, False)):
        tmp_path.chmod(mode)
        assert is_private(tmp_path) is expected
    tmp_path.chmod(0o700)
