"""Files of the user's are what they are now: Python's bytecode, which goes by size and second, decides nothing."""

from __future__ import annotations

import json
import os
import py_compile
import sys
from pathlib import Path

import pytest

from podrace.analysis.chain import FROM_CACHE
from podrace.analysis.prove.cluster_families import FamilyTask, explore_family
from podrace.analysis.prove.proof_request import ProofRequest, questions
from podrace.analysis.request.own_modules import load_module
from podrace.base.problems import UsageProblem
from tests.cli.helpers import TINY, Shell

BOUND = '''\
from podrace.model.language import count
from podrace.properties import Property


class FewAttempts(Property):
    """Few pods are assumed."""

    id = "MY-FEW"

    def holds(self):
        return count(self.cache.is_assumed(p) for p in self.pods) < 1
'''

THROUGH_A_HELPER = '''\
from podrace.properties import Property

from words import few


class FewAttempts(Property):
    """Few pods are assumed."""

    id = "MY-FEW"

    def holds(self):
        return few(self)
'''

WORDS = """\
from podrace.model.language import count


def few(seen):
    return count(seen.cache.is_assumed(p) for p in seen.pods) < 1
"""

PATCH = '''\
from podrace.model.scheduler import Scheduler


class Patch(Scheduler):
    """Tells which file was read."""

    read = 1
'''


@pytest.fixture(autouse=True)
def _bytecode_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Python does unless told otherwise."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)


def edited(path: Path, old: str, new: str) -> None:
    """Edit a file so that its size and the time of its last change stay, with its old bytecode beside it."""
    before = path.stat()
    if not list(path.parent.glob(f"__pycache__/{path.stem}.*")):
        py_compile.compile(str(path))
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def verdict(shell: Shell, *options: str) -> str:
    (found,) = json.loads(shell("check", "tiny.yaml", "-P", "my.py", *options, "-o", "json").out)
    return str(found["verdict"])


def test_an_edit_that_keeps_size_and_time_is_seen(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(BOUND)
    assert verdict(shell) == "VIOLATED"
    edited(tmp_path / "my.py", "< 1", "< 2")
    assert verdict(shell) == "HOLDS"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("words.py", "from words import few"),
        ("words/__init__.py", "from words import few"),
        ("words/deep.py", "from words.deep import few"),
        ("words.py", "from .words import few"),
        ("words.py", "import words; few = words.few"),
        ("words/deep.py", "import words.deep; few = words.deep.few"),
        ("words/deep.py", "import words.deep as deep; few = deep.few"),
        ("words.py", "from words import *"),
    ],
)
def test_an_edit_of_what_it_imports_from_beside_it_is_seen(
    shell: Shell, tmp_path: Path, place: str, line: str
) -> None:
    helper = tmp_path / place
    if helper.parent != tmp_path:
        helper.parent.mkdir()
        (helper.parent / "__init__.py").write_text("")
    helper.write_text(WORDS)
    (tmp_path / "my.py").write_text(THROUGH_A_HELPER.replace("from words import few", line))
    assert verdict(shell) == "VIOLATED"
    edited(helper, "< 1", "< 2")
    assert verdict(shell) == "HOLDS"


def test_what_is_imported_late_is_seen(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(WORDS)
    late = THROUGH_A_HELPER.replace("from words import few\n", "").replace(
        "        return few(self)", "        from words import few\n\n        return few(self)"
    )
    (tmp_path / "my.py").write_text(late)
    assert verdict(shell) == "VIOLATED"
    edited(tmp_path / "words.py", "< 1", "< 2")
    assert verdict(shell) == "HOLDS"


def test_bytecode_without_its_text_is_not_executed(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(WORDS)
    py_compile.compile(str(tmp_path / "words.py"), str(tmp_path / "words.pyc"))
    (tmp_path / "words.py").unlink()
    (tmp_path / "my.py").write_text(THROUGH_A_HELPER)
    assert shell("check", "tiny.yaml", "-P", "my.py").err == (
        "podrace: --properties: my.py: line 3: ModuleNotFoundError: No module named 'words'\n"
    )
    assert shell("check", "tiny.yaml", "-P", "words.pyc").err == (
        "podrace: --properties: words.pyc: this is no Python file: its name must end in .py\n"
    )


def test_a_patch_is_read_anew_too(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(PATCH)

    def read() -> int:
        return int(load_module(Path("my.py"), lambda path, what: AssertionError(what)).Patch.read)

    assert read() == 1
    edited(tmp_path / "my.py", "read = 1", "read = 2")
    assert read() == 2


def test_files_of_two_folders_never_share_a_helper(tmp_path: Path) -> None:
    modules = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "words.py").write_text(f"VALUE = {number}\n")
        (folder / "my.py").write_text("def late():\n    from words import VALUE\n    return VALUE\n")
        modules.append(load_module(folder / "my.py", lambda path, what: AssertionError(what)))
    assert [module.late() for module in modules] == [1, 2]
    assert "words" not in sys.modules


def test_no_bytecode_is_written(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "my.py").write_text(THROUGH_A_HELPER)
    assert verdict(shell) == "VIOLATED"
    assert not (tmp_path / "__pycache__").exists()


def test_modules_of_python_are_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise AssertionError\n")
    (tmp_path / "my.py").write_text("import queue\nSTANDARD = queue.SimpleQueue\n")
    assert load_module(Path("my.py"), lambda path, what: AssertionError(what)).STANDARD is not None


def test_a_mistake_in_a_helper_names_the_helper(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text("x = 1\ndef few(:\n")
    (tmp_path / "my.py").write_text(THROUGH_A_HELPER)
    assert shell("check", "tiny.yaml", "-P", "my.py").err == (
        "podrace: --properties: my.py: words.py: line 2: invalid syntax\n"
    )


def test_the_files_are_part_of_what_a_verdict_is_kept_for(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an edit leaves the system as it was."""
    monkeypatch.delenv("PODRACE_NO_CACHE")
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "my.py").write_text(THROUGH_A_HELPER)
    line = ("check", "tiny.yaml", "-P", "my.py", "--cache", "kept", "-o", "json")
    shell(*line)
    assert FROM_CACHE in shell(*line).out
    (tmp_path / "words.py").write_text(WORDS + "# the same\n")
    assert FROM_CACHE not in shell(*line).out
    assert FROM_CACHE in shell(*line).out


def test_a_file_that_changes_during_a_proof_ends_it(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(BOUND)
    (question,) = questions(ProofRequest(1, 1, own=("my.py",)))
    edited(tmp_path / "my.py", "< 1", "< 2")
    with pytest.raises(UsageProblem, match=r"^my.py: changed while the proof was running: run it again$"):
        explore_family(FamilyTask(question))
