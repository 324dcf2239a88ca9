"""What files of the user's may do in this process, and what of it is told: no verdict rests on a podrace that they changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from podrace.analysis.kept_findings import FOLDERS
from podrace.analysis.request.own_code import Ended
from podrace.checker.core import in_memory
from podrace.checker.core.own_files import is_in_one_place
from podrace.cli import commands, main
from tests.cli.helpers import MINE, TINY, Shell

CHANGES = {
    "a method of the model": (
        "import podrace.model.scheduler.cycles.schedule_pod as f\nf.SchedulePod.require_winner = lambda self, *a: None\n",
        "podrace.model.scheduler.cycles.schedule_pod.SchedulePod.require_winner itself",
    ),
    "a method that was inherited": (
        "from podrace.model.scheduler import Scheduler\nScheduler.step_of_mine = lambda self: None\n",
        "podrace.model.scheduler.cycles.schedule_one.Scheduler.step_of_mine itself",
    ),
    "the code of a function": (
        "from podrace.checker.reduction import conclusion\nconclusion.verdict_of.__code__ = (lambda *a, **k: 1).__code__\n",
        "podrace.checker.reduction.conclusion.verdict_of itself",
    ),
    "a default": (
        "from podrace.checker.reduction import conclusion\nconclusion.conclude.__defaults__ = ('native', 0)\n",
        "podrace.checker.reduction.conclusion.conclude itself",
    ),
    "a constant": (
        "import podrace.checker.reduction.conclusion as c\nc.OUT_OF_BUDGET = ()\n",
        "podrace.checker.reduction.conclusion.OUT_OF_BUDGET itself",
    ),
    "a table": (
        "from podrace.properties import PROPERTIES\ndel PROPERTIES['S-CAP']\n",
        "podrace.properties.PROPERTIES itself",
    ),
    "a module that was not loaded yet": (
        "import podrace.checker.divergence as i\ni.induction_of_mine = 1\n",
        "podrace.checker.divergence.induction_of_mine itself",
    ),
    "a builtin in a module": (
        "import podrace.checker.search as s\ns.sorted = lambda *a: []\n",
        "podrace.checker.search.sorted itself",
    ),
    "a whole module": (
        "import sys, types\nimport podrace.checker.search\nsys.modules['podrace.checker.search'] = types.ModuleType('podrace.checker.search')\n",
        "podrace.checker.search itself",
    ),
    "a step": (
        "from podrace.model.scheduler import Scheduler\nfrom podrace.model.language import Component\nComponent.__init_subclass__ = classmethod(lambda c, **k: None)\n",
        "podrace.model.language.declarations.component.Component.__init_subclass__ itself",
    ),
    "what it rests on": ("import hashlib\nhashlib.sha256 = None\n", "hashlib.sha256, on which"),
    "a builtin": ("import builtins\nbuiltins.all = any\n", "builtins.all, on which"),
}


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(TINY)
    return Shell(capsys)


@pytest.mark.representatives(11)
@pytest.mark.parametrize("what", list(CHANGES))
@pytest.mark.parametrize("when", ["loaded", "loaded beside", "traced"])
def test_a_file_that_changes_podrace_is_told_so(shell: Shell, what: str, when: str) -> None:
    change, told = CHANGES[what]
    if when == "traced":
        inner = "".join(f"        {line}\n" for line in change.splitlines())
        text = MINE.replace("        return ", f"{inner}        return ")
    elif when == "loaded beside":
        Path("other.py").write_text(change)
        text = f"import other\n{MINE}"
    else:
        text = f"{MINE}\n{change}"
    Path("mine.py").write_text(text)
    ran = shell("check", "tiny.yaml", "-P", "mine.py")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"podrace: --properties: mine.py: it changes {told}")
    assert not in_memory.changes()  # the tests that come next are about podrace as it is
    Path("mine.py").write_text(MINE)
    assert shell("check", "tiny.yaml", "-P", "mine.py").code == 1


SYSTEM = '''\
from podrace.model.language import System, integer, invariant, step


class Up(System):
    n = integer(0, 3)

    @step(actor="one")
    def up(self) -> None:
        """Up."""
        BODY
        self.n = 1

    @invariant
    def small(self):
        """Small."""
        return self.n <= 2
'''
PATCH = """\
from podrace.model.scheduler import Nominator


class A(Nominator):
    def accepts(self, pod):
        BODY
        return super().accepts(pod)
"""
CHANGE = "import podrace.checker.search as s; s.sorted = list"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SYSTEM, ("check", "mine.py:Up")),
        (PATCH, ("verify", "mine.py", "--scenario", "tiny.yaml")),
        (MINE.replace("        return ", "        BODY\n        return "), ("prove", "--pods", "1", "--nodes", "1", "-P", "mine.py", "--property", "MY-NONE", "--jobs", "1")),
    ],
    ids=["own system", "patch", "proof"],
)  # fmt: skip
def test_so_are_systems_patches_and_proofs(shell: Shell, text: str, line: tuple[str, ...]) -> None:
    Path("mine.py").write_text(text.replace("BODY", CHANGE))
    ran = shell(*line)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "it changes podrace.checker.search.sorted itself, and so every verdict" in ran.err
    assert not in_memory.changes()


ENDINGS = {
    "BaseException": ("class E(BaseException): pass\nraise E('boom')", "E: boom"),
    "sys.exit": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "os._exit": ("import os; os._exit(0)", "it ends podrace itself, by os._exit: leave that out"),
    "posix._exit": ("import posix; posix._exit(0)", "it ends podrace itself, by os._exit: leave that out"),
    "os.execlp": ("import os; os.execlp('true', 'true')", "it ends podrace itself, by os.execv: leave that out"),
    "os.execv": ("import os; os.execv('/bin/true', ['true'])", "it ends podrace itself, by os.execv: leave that out"),
    "os.abort": ("import os; os.abort()", "it ends podrace itself, by os.abort: leave that out"),
    "GeneratorExit": ("raise GeneratorExit('no')", "GeneratorExit: no"),
}  # fmt: skip


@pytest.mark.parametrize("what", list(ENDINGS))
@pytest.mark.parametrize("when", ["loaded", "traced"])
def test_a_file_that_ends_the_process_is_told_so(shell: Shell, what: str, when: str) -> None:
    code, told = ENDINGS[what]
    if when == "traced":
        inner = "".join(f"        {line}\n" for line in code.splitlines())
        Path("mine.py").write_text(MINE.replace("        return ", f"{inner}        return "))
    else:
        Path("mine.py").write_text(f"{code}\n{MINE}")
    ran = shell("check", "tiny.yaml", "-P", "mine.py")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("podrace: --properties: mine.py: line ")
    assert ran.err.rstrip("\n").endswith(told)


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "raise BaseException('boom')"])
def test_a_system_that_ends_the_process_is_told_so(shell: Shell, code: str) -> None:
    Path("mine.py").write_text(SYSTEM.replace("BODY", code))
    ran = shell("check", "mine.py:Up")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("podrace: mine.py: line 10: ")


def command(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    program = "import sys; from podrace.cli.main import main; main(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": "", **environment},
    )


@pytest.mark.parametrize(
    "late",
    [
        "import atexit, os; atexit.register(lambda: os._exit(0))",
        "import os, threading; threading.Thread(target=lambda: (threading.Event().wait(0.3), os._exit(0))).start()",
    ],
)
def test_no_file_ends_the_process_later(tmp_path: Path, late: str) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "mine.py").write_text(f"{late}\n{MINE}")
    with command("check", str(tmp_path / "tiny.yaml"), "-P", str(tmp_path / "mine.py")) as process:
        out, _ = process.communicate()
    assert process.returncode == 1
    assert "MY-NONE VIOLATED" in out


def test_what_a_poisoned_run_found_is_kept_for_nobody(tmp_path: Path) -> None:
    """What podrace itself keeps is found by plain runs alone."""
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "mine.py").write_text(MINE)
    files = {
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PODRACE_CACHE": str(tmp_path / "cache"),
        "PODRACE_NO_CACHE": "",
    }
    kept = []
    for more in (("-P", str(tmp_path / "mine.py")), (), ()):
        with command("check", str(tmp_path / "tiny.yaml"), "-o", "json", *more, **files) as process:
            out, err = process.communicate()
        assert process.returncode in (0, 1), err
        kept.append("from the cache" in out)
    assert kept == [False, False, True]


def test_podrace_from_two_places_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of podrace's that comes first on Python's path is not the one whose files the keys are made of: nothing is kept."""
    assert is_in_one_place(FOLDERS)
    assert not is_in_one_place(["no_such_folder"])
    spec = ModuleSpec("podrace.model", None, origin="/elsewhere/podrace/model/__init__.py")
    monkeypatch.setattr("podrace.model.__spec__", spec)
    assert not is_in_one_place(FOLDERS)


@pytest.mark.parametrize(
    ("name", "sent", "code", "said"),
    [
        ("typer", "SIGINT", 130, "interrupted"),
        ("typer", "SIGTERM", 143, "terminated"),
        ("typer", "SIGHUP", 129, "hung up: the terminal was closed"),
        ("...analysis.chain", "SIGINT", 130, "interrupted"),
    ],
)
def test_a_signal_while_modules_are_loaded_is_one_line(name: str, sent: str, code: int, said: str) -> None:
    program = (
        "import builtins, os, signal, sys\n"
        "real = builtins.__import__\n"
        "def late(name, *a, **k):\n"
        "    if name == sys.argv[1].lstrip('.') or name.endswith(sys.argv[1].lstrip('.')):\n"
        f"        os.kill(os.getpid(), signal.{sent})\n"
        "    return real(name, *a, **k)\n"
        "from podrace.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and nohup this one\n"
        "builtins.__import__ = late\n"
        "main(['check', '72124', '--no-cache'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program, name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"podrace: {said}\n")


@pytest.mark.parametrize(
    ("sent", "code", "said"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)
def test_a_signal_that_python_ignores_is_not_lost(sent: str, code: int, said: str) -> None:
    """What the handler raises amid the callback of a weak reference goes nowhere."""
    program = (
        "import builtins, os, signal, threading, weakref\n"
        "real = builtins.__import__\n"
        "class Thing: pass\n"
        "def late(name, *a, **k):\n"
        "    if name == 'typer':\n"
        "        thing = Thing()\n"
        f"        kept = weakref.ref(thing, lambda _: [os.kill(os.getpid(), signal.{sent}), list(range(9))])\n"
        "        del thing\n"
        "        threading.Event().wait(60)\n"
        "    return real(name, *a, **k)\n"
        "from podrace.cli.main import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "builtins.__import__ = late\n"
        "main(['races'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"podrace: {said}\n")


@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM"])
def test_a_signal_amid_a_call_of_ctypes_waits(sent: str) -> None:
    """ctypes makes an error of its own of what a signal's handler raises while it converts an argument."""
    program = (
        "import ctypes, os, signal, threading\n"
        "from podrace.base.problems import Terminated\n"
        "from podrace.cli import commands\n"
        "from podrace.cli.main import main\n"
        "class Number:\n"
        "    @classmethod\n"
        "    def from_param(cls, value):\n"
        f"        os.kill(os.getpid(), signal.{sent})\n"
        "        return ctypes.c_int(len(list(range(value))))\n"
        "def command(*arguments, **options):\n"
        "    absolute = ctypes.CDLL(None).abs\n"
        "    absolute.argtypes = [Number]\n"
        "    try:\n"
        "        print(absolute(7))\n"
        "        threading.Event().wait(60)\n"
        "    except Terminated:\n"
        "        print('told')\n"
        "commands.app_for = lambda arguments: command\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "main(['races'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\ntold\n", "")


SLOW = """\
name: slow
release: "1.36.0"
nodes: {n1: {cpu: 4}, n2: {cpu: 4}}
pods: {a: {cpu: 1}, b: {cpu: 2}, c: {cpu: 3}, d: {cpu: 1}, e: {cpu: 1}}
properties: [S-CAP, S-UNIQ, S-STUCK]
"""


@pytest.mark.ci
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM"])
def test_what_was_decided_is_told_when_the_process_is_told_to_end(tmp_path: Path, sent: str) -> None:
    (tmp_path / "slow.yaml").write_text(SLOW)
    (tmp_path / "mine.py").write_text(
        "import os, signal, threading\n"
        + MINE.replace("MY-NONE", "A-FIRST")
        + f"threading.Timer(6, lambda: [os.kill(os.getpid(), signal.{sent}) for _ in range(2)]).start()\n"
    )
    line = ("check", str(tmp_path / "slow.yaml"), "-P", str(tmp_path / "mine.py"), "--property", "A-FIRST", "--property", "S-CAP", "--property", "S-UNIQ", "-o", "json")  # fmt: skip
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, it may be ignored
    try:
        with command(*line) as process:
            out, err = process.communicate()
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.returncode == 1, err
    assert '"A-FIRST"' in out
    assert out.count("Not decided: podrace was told to end before.") >= 1
    assert "leaked" not in err


def test_what_a_signal_raises_is_there_before_its_handler() -> None:
    """A signal amid the import of base.problems was a traceback, with the exit code of a violation."""
    seen = (
        "import signal, sys, podrace.cli.main as m\n"
        "for number in (signal.SIGHUP, signal.SIGINT):  # nohup and a shell have them ignored\n"
        "    signal.signal(number, signal.SIG_DFL)\n"
        "signal.signal = lambda *_: print('podrace.base.problems' in sys.modules)\n"
        "m.run = lambda _: 0\n"
        "m.main([])"
    )
    ran = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, ["True"] * 3)


def test_a_file_that_closes_stdout_is_a_mistake_of_its_own(tmp_path: Path) -> None:
    """The exit code was 1, that of a violation, with a traceback."""
    (tmp_path / "mine.py").write_text("import sys\nsys.__stdout__.close()\n")
    ran = subprocess.run(
        [sys.executable, "-c", "from podrace.cli.main import main; main()", "check", "gone-victim", "-P", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    said = "podrace: --properties: mine.py: it closes stdout, where the result goes: leave that out\n"
    assert (ran.returncode, ran.stderr) == (2, said)


def test_a_signal_that_calls_code_of_a_file_to_end_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A handler for SIGALRM that calls os._exit: that was a traceback and the exit code 1, too."""

    def search(*_: object, **__: object) -> None:
        raise Ended("it ends podrace itself, by os._exit: leave that out")

    monkeypatch.setattr(commands, "app_for", lambda _: search)
    assert main.run(["check"]) == 2
    assert capsys.readouterr().err == "podrace: a file of yours: it ends podrace itself, by os._exit: leave that out\n"  # fmt: skip
