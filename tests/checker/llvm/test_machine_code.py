"""The cache of object code: never needed, never trusted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from podrace.checker.codegen.program import generate
from podrace.checker.llvm.machine_code import cache_directory, compile_system
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import philosophers, ring


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory for the compiled code of one test."""
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def ir(system: TransitionSystem) -> str:
    return generate(system).ir


def test_equal_systems_give_equal_code(cache: Path) -> None:
    assert ir(philosophers(4)) == ir(philosophers(4))
    assert not compile_system(ir(philosophers(4))).from_cache
    assert compile_system(ir(philosophers(4))).from_cache


def test_other_systems_give_other_code(cache: Path) -> None:
    compile_system(ir(philosophers(4)))
    assert not compile_system(ir(philosophers(5))).from_cache
    assert not compile_system(ir(ring(4))).from_cache


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "foreign"])
def test_a_damaged_file_is_replaced(cache: Path, damage: str) -> None:
    text = ir(ring(3))
    compile_system(text)
    (file,) = (cache / "objects").iterdir()
    good = file.read_bytes()
    bad = {
        "cut": good[:-100],
        "flipped": good[:-1] + bytes([good[-1] ^ 1]),
        "emptied": b"",
        "foreign": b"\x7fELF" + good,
    }
    file.write_bytes(bad[damage])
    assert not compile_system(text).from_cache
    assert file.read_bytes() == good
    assert compile_system(text).from_cache


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "file" / "cache"))
    assert not compile_system(ir(ring(3))).from_cache
    assert not compile_system(ir(ring(3))).from_cache


def test_no_drafts_are_left(cache: Path) -> None:
    compile_system(ir(ring(3)))
    assert [len(f.name) for f in (cache / "objects").iterdir()] == [64]


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PODRACE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", os.path.join(os.sep, "home", "somebody"))
    assert cache_directory() == Path("/home/somebody/.cache/podrace")
    monkeypatch.setenv("XDG_CACHE_HOME", "/shared")
    assert cache_directory() == Path("/shared/podrace")
    monkeypatch.setenv("PODRACE_CACHE", "/own")
    assert cache_directory() == Path("/own")


SEARCH = """
from podrace.checker.explicit import explore
from tests.checker.explicit.systems import ring
print(explore(ring(3)).states)
"""


def search_in_a_process(cache: Path) -> str:
    environment = {**os.environ, "PODRACE_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", SEARCH], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_damaged_loops_are_compiled_again(tmp_path: Path) -> None:
    assert search_in_a_process(tmp_path) == "24"
    files = sorted((tmp_path / "objects").iterdir())
    assert len(files) >= 3  # the system's code, and that of the loops that every search needs
    for i, file in enumerate(files):
        file.write_bytes(b"junk" if i % 2 else file.read_bytes()[:-50])
    assert search_in_a_process(tmp_path) == "24"
    assert search_in_a_process(tmp_path) == "24"


def test_a_search_needs_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert search_in_a_process(tmp_path / "file" / "cache") == "24"
