"""Programs that change podrace: what they are told, and that nothing is kept."""

from __future__ import annotations

import importlib
import operator
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from podrace.api import check
from podrace.base.problems import Problem
from podrace.model.environment.objects import Pod
from podrace.model.language import Expr, all_of
from podrace.model.scheduler.queue.sub_queues import SubQueue
from podrace.properties import PROPERTIES, Property
from podrace.properties.scheduling.conditions import BoundPodsSayScheduled
from tests.api import symbols
from tests.cli.helpers import MINE, TINY

CHECK = "(found,) = check('tiny.yaml')\nprint(found.verdict, *found.notes, sep='\\n')\n"
PROGRAMS = {
    "unchanged": f"from podrace.api import check\n{CHECK}",
    "changed later": f"from podrace.api import check\nimport podrace.checker.search as s\ns.sorted = sorted\n{CHECK}",
    "changed before": f"import podrace.checker.search as s\nchecked = s.check\ns.check = lambda *a, **k: checked(*a, **k)\nfrom podrace.api import check\n{CHECK}",
}


@pytest.mark.parametrize("what", list(PROGRAMS))
def test_a_program_that_changes_podrace_keeps_nothing(tmp_path: Path, what: str) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    files = {"XDG_STATE_HOME": "state", "PODRACE_CACHE": "cache", "PODRACE_NO_CACHE": "", "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[what]],
        cwd=tmp_path,
        env={**os.environ, **files},
        capture_output=True,
        text=True,
        check=True,
    )
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert bool(kept) == (what == "unchanged")
    told = "this program changed podrace.checker.search.sorted: the verdict is about podrace as it is with that, and was not kept"
    assert (told in done.stdout) == (what == "changed later")
    assert done.stdout.startswith("HOLDS\n")


def test_a_program_may_have_a_property_of_its_own(tmp_path: Path) -> None:
    """In a process that has executed nothing else: what podrace itself guards is not taken for a change of the program's."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "mine.py").write_text(
        f"{MINE}\n\nfrom podrace.api import check\n"
        "for found in check('tiny.yaml', property=[NobodyAssumed, 'S-CAP']):\n    print(found.property, found.verdict)\n"
    )
    done = subprocess.run(
        [sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("MY-NONE VIOLATED\nS-CAP HOLDS\n", "")


class NoHolds(Property):
    """No pod is ever assumed."""

    id = "MY-NONE"


class Kind(NoHolds):
    """Of a kind that is misspelled."""

    kind = "livenes"  # type: ignore[assignment]


class Second(BoundPodsSayScheduled):
    """The same again."""

    id = "MY-TWO"


class Third(Second):
    """And again, as a copied class has it."""


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ([NoHolds], "property: NoHolds is of kind `invariant` and has no method `holds`"),
        ([Kind], "property: Kind: `livenes` is no kind of property: use one of invariant, resettability, deadlock freedom, liveness"),
        ([Second, Third], "property: Third: two properties have the id `MY-TWO`"),
        ([type("S", (Second,), {"__doc__": "Mine.", "id": "s-cap"})], "property: S: `S-CAP` is a property of podrace: choose another `id`"),
    ],
)  # fmt: skip
def test_a_class_is_held_to_what_a_file_is(tmp_path: Path, classes: list[type[Property]], said: str) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    with pytest.raises(Problem) as caught:
        check(tmp_path / "tiny.yaml", property=classes)
    assert str(caught.value) == said


def test_a_class_of_podrace_is_its_identifier(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (one,) = check(tmp_path / "tiny.yaml", property=[PROPERTIES["S-CAP"], "S-CAP"])
    assert (one.property, one.verdict) == ("S-CAP", "HOLDS")


class Unheard(NoHolds):
    """No pod waits in a queue."""

    def holds(self) -> Expr:
        return all_of(~self.waits(p) for p in self.pods)

    def waits(self, pod: Pod) -> Any:
        raise NotImplementedError


class InSet(Unheard):
    """By a set."""

    def waits(self, pod: Pod) -> Any:
        return self.queue.sub_queue[pod] in {SubQueue.BACKOFF, SubQueue.UNSCHEDULABLE}


class Counted(Unheard):
    """By a Counter, in a function beside the class."""

    def waits(self, pod: Pod) -> Any:
        return counted(self.queue.sub_queue[pod])


def counted(symbol: Any) -> bool:
    return Counter([symbol])[SubQueue.BACKOFF] > 0


class ByIs(Unheard):
    """By `is`."""

    def waits(self, pod: Pod) -> Any:
        return is_it(self.queue.sub_queue[pod])


def is_it(symbol: Any) -> bool:
    return symbol is SubQueue.BACKOFF


class Helper:
    @staticmethod
    def is_it(symbol: Any) -> bool:
        return symbol is SubQueue.BACKOFF


class ByHelper(Unheard):
    """By `is`, in a list of a helper's functions."""

    how = (lambda symbol: Helper.is_it(symbol),)

    def waits(self, pod: Pod) -> Any:
        return self.how[0](self.queue.sub_queue[pod])


class ByOperator(Unheard):
    """By a function of Python's that does what `is` does."""

    def waits(self, pod: Pod) -> Any:
        return operator.is_(self.queue.sub_queue[pod], SubQueue.BACKOFF)


class FromBeside(Unheard):
    """By `is`, in a function of another file."""

    def waits(self, pod: Pod) -> Any:
        return symbols.is_backoff(self.queue.sub_queue[pod])


@pytest.mark.parametrize(
    ("cls", "what"), [(ByOperator, "`is`"), (FromBeside, "`is`"), (InSet, "a hash, as of a key or in a set,"), (Counted, "a hash, as of a key or in a set,"), (ByIs, "`is`"), (ByHelper, "`is`")]
)  # fmt: skip
def test_a_class_gets_no_answers_that_its_file_would_not(
    tmp_path: Path, cls: type[Property], what: str
) -> None:
    """Python itself answered, mostly False, and the property HELD."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    with pytest.raises(Problem) as caught:
        check(tmp_path / "tiny.yaml", property=cls)
    says = "says nothing of what a symbolic value holds: compare it by `==`, or with `one_of(...)`"
    assert str(caught.value).rpartition(".py:")[2].partition(": ")[2] == f"{what} {says}"


PROGRAM = """
from podrace.model.language import all_of, negate
from podrace.model.scheduler.queue.sub_queues import SubQueue
from podrace.properties import Property
{before}

class Waits(Property):
    \"\"\"No pod waits in a queue.\"\"\"
    id = "MY-WAITS"
    {within}
    def holds(self):
        return all_of(negate(self.waits(self.queue.sub_queue[p])) for p in self.pods)
    def waits(self, symbol{more}):
        {how}
"""
BESIDE = """
import functools
import operator
from podrace.model.scheduler.queue.sub_queues import SubQueue
def plain(symbol):
    return symbol is SubQueue.ACTIVE
class Tool:
    def waits(self, symbol):
        return symbol is SubQueue.ACTIVE
"""
KEEPING = f"""{BESIDE}
OPS = {{"is": operator.is_}}
"""
CALLS = "return {}(symbol, SubQueue.ACTIVE)"


@pytest.mark.parametrize(
    ("before", "within", "more", "how", "says"),
    [
        ("", "", "", f"from operator import is_; {CALLS.format('is_')}", "says nothing"),
        ("", "", "", f"import operator as o; {CALLS.format('o.is_')}", "says nothing"),
        ("", "", "", f"import _operator; {CALLS.format('_operator.is_')}", "says nothing"),
        ("import _operator", "", "", CALLS.format("_operator.is_"), "says nothing"),
        ("import operator", "", ", same=operator.is_", CALLS.format("same"), "line 13: `operator.is_` is kept"),
        ("import operator", "same = operator.is_", "", CALLS.format("self.same"), "line 10: `operator.is_` is kept"),
        ("import operator; ALL = [operator.is_]", "", "", CALLS.format("ALL[0]"), "line 5: `operator.is_` is kept"),
        ("from functools import partial; import operator; it = partial(operator.is_, SubQueue.ACTIVE)", "", "", "return it(symbol)", "line 5: `operator.is_` is kept"),
        ("from {name}_keeping import OPS, plain", "", "", CALLS.format("OPS['is']"), "_keeping.py: line 11: `operator.is_` is kept"),
        ("", "", "", "from {name}_beside import plain; return plain(symbol)", "says nothing"),
        ("", "", "", "import {name}_beside; return {name}_beside.plain(symbol)", "says nothing"),
        ("import {name}_beside as b; it = b.Tool(); del b", "", "", "return it.waits(symbol)", "says nothing"),
        ("import {name}_beside as b; it = b.Tool().waits; del b", "", "", "return it(symbol)", "says nothing"),
        ("", "", "", "return symbol == SubQueue.ACTIVE", ""),
        ("import operator", "", "", CALLS.format("operator.eq"), ""),
        ("", "", "", f"from operator import eq; {CALLS.format('eq')}", ""),
    ],
)  # fmt: skip
def test_nothing_that_does_what_is_does_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, within: str, more: str, how: str, says: str
) -> None:
    """Also where it is imported when a method runs, or kept under another name: the property HELD."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    name = f"program_{abs(hash((before, within, more, how)))}"
    texts = PROGRAM.format(before=before, within=within, more=more, how=how).replace("{name}", name)
    for end, text in {"": texts, "_beside": BESIDE, "_keeping": KEEPING}.items():
        (tmp_path / f"{name}{end}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    cls = importlib.import_module(name).Waits
    if not says:
        (found,) = check(tmp_path / "tiny.yaml", property=cls)
        assert found.verdict == "VIOLATED"
        return
    with pytest.raises(Problem) as caught:
        check(tmp_path / "tiny.yaml", property=cls)
    assert says in str(caught.value), str(caught.value)
