"""The cache of object code: never needed, never trusted."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.core.kept import cache_directory
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.llvm import machine_code
from podrace.checker.llvm.machine_code import (
    MachineCode,
    compile_kernel,
    compile_system,
)
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import philosophers, ring

FOUR = 34
"""States of four philosophers."""


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


def first_states(code: MachineCode, system: TransitionSystem) -> int:
    """How many states of the system are met by a search with this code."""
    return Search(generate(system), SearchBudget(Budget(), None), Workers(1), code=code).run().states


def test_code_that_is_compiled_soon_is_improved_once_and_kept_as_both(cache: Path) -> None:
    system = philosophers(4)
    soon = compile_system(ir(system), soon=True)
    before = soon.expand
    assert first_states(soon, system) == FOUR
    soon.improve()
    after = soon.expand
    assert after != before
    assert first_states(soon, system) == FOUR
    soon.improve()
    assert soon.expand == after
    # Whoever asks next gets the optimised code, soon or not.
    for again in (compile_system(ir(system)), compile_system(ir(system), soon=True)):
        assert again.from_cache
        kept = again.expand
        again.improve()
        assert again.expand == kept


def test_code_that_was_compiled_soon_is_kept_and_can_still_be_improved(cache: Path) -> None:
    system = ring(3)
    assert not compile_system(ir(system), soon=True).from_cache
    again = compile_system(ir(system), soon=True)
    assert again.from_cache
    before = again.expand
    again.improve()
    assert again.expand != before
    assert compile_system(ir(system)).from_cache


def test_a_system_is_improved_late_when_it_is_searched_first_and_early_when_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = philosophers(9)

    def improved(first: int, again: int, takes: float = 0.0) -> tuple[bool, bool]:
        monkeypatch.setattr(machine_code, "_OPTIMISING", takes)
        monkeypatch.setattr(machine_code, "FIRST", first)
        monkeypatch.setattr(machine_code, "AGAIN", again)
        code = compile_system(ir(system), soon=True)
        before = code.expand
        first_states(code, system)
        return code.from_cache, code.expand != before

    never, soon = 1 << 30, 100
    assert improved(never, soon) == (False, False)
    assert improved(soon, never) == (True, False)
    # A search that is over before the better code would be there goes on with what it has.
    assert improved(soon, soon, takes=1.0) == (True, False)
    assert improved(never, soon) == (True, True)
    assert improved(soon, soon) == (True, False)  # it was, and is kept


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


def test_code_in_the_place_of_other_code_is_replaced(cache: Path) -> None:
    """Whole and ours, but of another system: the digest of its content is right."""
    compile_system(ir(ring(4)))
    (other,) = (cache / "objects").iterdir()
    moved = other.read_bytes()
    compile_system(ir(ring(3)))
    (file,) = set((cache / "objects").iterdir()) - {other}
    good = file.read_bytes()
    file.write_bytes(moved)
    assert not compile_system(ir(ring(3))).from_cache
    assert file.read_bytes() == good


def test_code_that_somebody_else_wrote_is_replaced(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By whoever can write there and does not have the key: with the digest that used to be enough, or their own signature."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    compile_system(ir(ring(3)))
    (file,) = (cache / "objects").iterdir()
    theirs = file.read_bytes()
    code = theirs[len(b"podrace object 2\n") + 32 :]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "ours"))
    digest = hashlib.sha256(code).digest()
    for forged in (theirs, b"podrace object 1\n" + digest + code, b"podrace object 2\n" + digest + code):
        file.write_bytes(forged)
        assert not compile_system(ir(ring(3))).from_cache
        assert compile_system(ir(ring(3))).from_cache


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
@pytest.mark.parametrize("place", ["", "objects"])
def test_a_directory_of_others_is_passed_over(cache: Path, mode: int, place: str) -> None:
    compile_system(ir(ring(3)))
    (cache / place).chmod(mode)
    before = list((cache / "objects").iterdir())
    assert not compile_system(ir(ring(3))).from_cache
    assert not compile_system(ir(ring(4))).from_cache
    assert list((cache / "objects").iterdir()) == before
    (cache / place).chmod(0o700)
    assert compile_system(ir(ring(3))).from_cache


def test_without_a_key_nothing_is_kept(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert not compile_system(ir(ring(3))).from_cache
    assert not cache.exists()


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "file" / "cache"))
    assert not compile_system(ir(ring(3))).from_cache
    assert not compile_system(ir(ring(3))).from_cache


def test_no_drafts_are_left(cache: Path) -> None:
    compile_system(ir(ring(3)))
    assert [len(f.name) for f in (cache / "objects").iterdir()] == [64]


def test_nobody_else_can_write_where_code_is_kept(cache: Path) -> None:
    before = os.umask(0)
    try:
        compile_system(ir(ring(3)))
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (cache, cache / "objects")] == [0o700, 0o700]
    assert compile_system(ir(ring(3))).from_cache


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


KERNEL = """\
define i64 @kernel(ptr %given, ptr %results) {
  store i64 42, ptr %results
  ret i64 7
}
"""


def test_a_kernel_is_kept_with_its_note(cache: Path) -> None:
    """Code and note come back as they were, and nobody asks for the text again."""

    def never() -> tuple[str, str]:
        raise AssertionError("it is kept")

    def called(code: MachineCode) -> tuple[int, int]:
        results = (ctypes.c_int64 * 1)()
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(code["kernel"])
        return function(None, results), results[0]

    note = "numbers: SIGNED\nan error in a länger text"
    made, first = compile_kernel("described", lambda: (KERNEL, note), "kernel")
    kept, again = compile_kernel("described", never, "kernel")
    assert (made.from_cache, kept.from_cache) == (False, True)
    assert (first, again) == (note, note)
    assert called(made) == called(kept) == (7, 42)
    with pytest.raises(AssertionError, match="it is kept"):
        compile_kernel("described otherwise", never, "kernel")
