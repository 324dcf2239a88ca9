"""When the code of a kernel is taken from the cache, and when it is compiled anew."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from podrace.checker.kernel_compiler import jit

SOURCES = {
    "bounds": "LIMIT = 10\nOTHER = 1\n",
    "helpers": """
from podrace.checker.kernel_compiler.jit import inline

@inline
def doubled(a):
    return 2 * a
""",
    "kernels": """
from bounds import LIMIT, OTHER
from helpers import doubled
from podrace.checker.kernel_compiler.jit import jit

@jit
def capped(a):
    return min(doubled(a), LIMIT)
""",
    "bystanders": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules of kernels, which can be imported, and an empty cache."""
    for name, text in SOURCES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def called(value: int) -> tuple[int, bool]:
    """What the kernel gives in a new process, and whether its code was in the cache."""
    for name in SOURCES:
        sys.modules.pop(name, None)
    jit._digest.cache_clear()
    kernel = importlib.import_module("kernels").capped
    result = kernel(value)
    (compiled,) = kernel._compiled.values()
    return result, compiled.code.from_cache


def test_the_same_sources_have_the_same_code(folder: Path) -> None:
    assert called(4) == (8, False)
    assert called(7) == (10, True)


@pytest.mark.parametrize(
    ("name", "old", "new", "result"),
    [
        ("kernels", "min(", "max(", 14),
        ("helpers", "2 * a", "3 * a", 10),  # a kernel that it calls, in another file
        ("bounds", "LIMIT = 10", "LIMIT = 11", 11),  # a constant from another file
    ],
)
def test_what_decides_the_code_is_not_missed(
    folder: Path, name: str, old: str, new: str, result: int
) -> None:
    assert called(7) == (10, False)
    (folder / f"{name}.py").write_text(SOURCES[name].replace(old, new))
    assert called(7) == (result, False)
    assert called(7) == (result, True)


@pytest.mark.parametrize(("name", "text"), [("bystanders", "X = 1\n"), ("bounds", "LIMIT = 10\nOTHER = 2\n")])
def test_what_does_not_decide_it_leaves_it_alone(folder: Path, name: str, text: str) -> None:
    assert called(7) == (10, False)
    (folder / f"{name}.py").write_text(text)
    assert called(7) == (10, True)


def test_another_compiler_makes_other_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called(7) == (10, False)
    monkeypatch.setattr(jit, "_compilers", lambda: "another")
    assert called(7) == (10, False)
