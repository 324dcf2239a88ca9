"""The other commands, and the command as a process: exit codes, streams, colours, imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from typer.testing import CliRunner

from podrace.analysis.request.options import bytes_in_words, scaled_down
from podrace.checker.core.exploration import Progress
from podrace.cli.commands import all_commands
from podrace.cli.configuration.command_groups import MODULES
from podrace.cli.terminal.progress_display import ProgressDisplay, describe
from podrace.properties import PROPERTIES
from podrace.properties.titles import GROUPS, TITLES
from podrace.reproduce.running import building
from podrace.scenarios import catalogue, hazards
from tests.cli.helpers import TINY, Shell

PODRACE = str(Path(sysconfig.get_path("scripts")) / "podrace")


def podrace(*arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PODRACE, *arguments], capture_output=True, text=True, cwd=cwd, env={**os.environ, **env}, timeout=120
    )


def test_races(shell: Shell) -> None:
    ran = shell("races")
    assert (ran.code, ran.err) == (0, "")
    assert (
        "nominated-node-race  Another pod takes the room that preemption made\n"
        "    issue kubernetes/kubernetes#72124, fixed by kubernetes/kubernetes#72259\n"
    ) in ran.out


def test_races_for_programs(shell: Shell) -> None:
    rows = json.loads(shell("races", "-o", "json").out)
    assert [row["name"] for row in rows] == [s.name for s in catalogue()]
    assert {"name", "title", "issue", "fixes", "release", "properties", "also", "residual", "file"} == set(
        rows[0]
    )


def names(shell: Shell, *line: str) -> list[str]:
    return [row["name"] for row in json.loads(shell(*line, "-o", "json").out)]


def test_races_by_words_and_release(shell: Shell) -> None:
    """A race is listed for a version that does not have one of its fixes; words may be the part that the fix changes."""
    assert names(shell, "races", "DisruptionTarget", "is already GONE") == ["gone-victim"]
    assert "nominated-node-race" in names(shell, "races", "preemption", "S-NOMVIS")
    assert names(shell, "races", "preemption", "--release", "latest") == ["gone-victim"]
    assert "gone-victim" not in names(shell, "races", "--release", "1.34.0")
    assert "nominated-node-race" in names(shell, "races", "--release", "1.13.0")
    assert "nominated-node-race" not in names(shell, "races", "--release", "1.13")
    ran = shell("races", "no-such-word")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: no race matches all of `no-such-word`; without words, all are listed\n"
    assert shell("hazards", "no-such-word").code == 2


def test_hazards(shell: Shell) -> None:
    assert names(shell, "hazards") == [scenario.name for scenario in hazards()]
    assert set(names(shell, "hazards", "taint")) < set(names(shell, "hazards"))
    assert "gone-victim-again" in names(shell, "hazards", "141694")
    assert shell("hazards").out.startswith("announced  ")


def test_habits_of_other_programs(shell: Shell) -> None:
    assert shell("--version").out == shell("version").out
    assert shell("help").out == shell("--help").out
    assert shell("help", "races").out == shell("races", "--help").out


def test_properties(shell: Shell) -> None:
    ran = shell("properties")
    assert ran.code == 0
    told = [line for line in ran.out.splitlines() if not line.startswith(" ")]
    assert [line.rstrip(": ") for line in told if line.rstrip().endswith(":")] == list(GROUPS)
    assert [line.split("  ")[1].split(",")[0] for line in told if "  S-" in line or "  L-" in line] == list(
        TITLES
    )
    assert set(TITLES) == set(PROPERTIES)
    assert len(set(TITLES.values())) == len(TITLES)


def test_properties_are_found_by_a_word(shell: Shell) -> None:
    ran = shell("properties", "Nominated", "-o", "json")
    assert {row["id"] for row in json.loads(ran.out)} >= {"S-NOM", "S-NOMLIVE", "L-NOM"}
    assert "L-NOM, liveness" in shell("properties", "starve").out  # the name of its race has the word
    assert shell("properties", "xyzzy").err.startswith(
        "podrace: no property has the word `xyzzy`, nor a race of one"
    )


def test_one_property_is_explained(shell: Shell) -> None:
    ran = shell("properties", "s-nomvis")
    assert ran.code == 0
    assert ran.out.startswith(
        "Room is reserved until the nomination is known  S-NOMVIS, invariant\n    After preemption has chosen a node for a pod, and until this"
    )
    assert "    see kubernetes/kubernetes#72124\n    scenarios: nominated-node-race\n" in ran.out


def test_properties_for_programs(shell: Shell) -> None:
    rows = json.loads(shell("properties", "-o", "json", "S-NOM").out)
    assert [(row["id"], row["title"], row["group"]) for row in rows] == [
        ("S-NOM", "nominated room stays reserved", "Preemption and nominations")
    ]


def test_version(shell: Shell) -> None:
    assert shell("version").out.startswith("podrace 0.")


def test_every_help_fits_on_80_columns(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    commands = list(MODULES)
    assert len(commands) > 20
    helps = [shell("--help"), *(shell(name, "--help") for name in commands)]
    assert [line for ran in helps for line in ran.out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("line", [["--help"], ["check", "-h"]])
def test_the_help_documents_the_exit_codes(line: list[str]) -> None:
    result = CliRunner().invoke(all_commands(), line)
    text = " ".join(result.output.split())
    assert result.exit_code == 0
    assert "0 holds, 1 violated, 2 wrong usage or input, 3 inconclusive (a budget ran out)" in text


@pytest.mark.ci
def test_exit_codes_of_the_process(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    holds = podrace("check", "tiny.yaml", cwd=tmp_path)
    assert (holds.returncode, holds.stderr) == (0, "")
    assert (
        podrace("check", "tiny.yaml", "--property", "S-CONS", "--max-states", "2", cwd=tmp_path).returncode
        == 3
    )
    assert podrace("check", "72124", cwd=tmp_path).returncode == 1
    wrong = podrace("check", "none.yaml", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "podrace: none.yaml: no such file; `podrace races` lists the scenarios that come with podrace\n"
    )


def test_piped_output_has_neither_colour_nor_progress() -> None:
    ran = podrace("check", "53647", "--engine", "reference")
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""


@pytest.mark.parametrize("option", [{"NO_COLOR": "1"}, {}])
def test_colour_can_be_switched_off(option: dict[str, str]) -> None:
    arguments = ["races"] if option else ["races", "--no-color"]
    ran = podrace(*arguments, cwd=None, FORCE_COLOR="1", **option)
    assert "\x1b[3" not in ran.stdout


def test_the_width_of_the_terminal_is_respected() -> None:
    ran = podrace("check", "53647", "--engine", "reference", COLUMNS="80")
    assert [line for line in ran.stdout.splitlines() if len(line) > 80] == []


def test_a_reader_that_stops_early_is_no_error() -> None:
    process = subprocess.Popen(
        [PODRACE, "properties"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_result_that_cannot_be_written(form: str) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [PODRACE, "races", "-o", form], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (ran.returncode, ran.stderr) == (
        2,
        "podrace: cannot write the result: No space left on device: write it elsewhere\n",
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("line", ["races -o json", "races", "--help"])
def test_a_result_that_is_cut_short_by_a_full_disk(tmp_path: Path, line: str, unbuffered: str) -> None:
    """With PYTHONUNBUFFERED Python's own write was content with the first 1,024 bytes, and the exit code was 0."""
    ran = subprocess.run(
        ["sh", "-c", f"trap '' XFSZ; ulimit -f 1; exec {PODRACE} {line} > {tmp_path / 'cut'}"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    said = "podrace: cannot write the result: File too large: write it elsewhere\n"
    assert (ran.returncode, ran.stderr) == (2, said)


NOWHERE = "podrace: cannot write the result: Bad file descriptor: write it elsewhere\n"


@pytest.mark.parametrize(
    ("line", "code", "shown", "said"),
    [
        ("version >&-", 2, "", NOWHERE),
        ("--help >&-", 2, "", NOWHERE),
        ("version 2>&-", 0, "podrace ", ""),
        ("version >&- 2>&-", 2, "", ""),
        ("races --nonsense 2>&-", 2, "", ""),
    ],
)
def test_a_closed_stream_is_no_place_for_a_result(line: str, code: int, shown: str, said: str) -> None:
    ran = subprocess.run(["sh", "-c", f"{PODRACE} {line}"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout[: len("podrace ")], ran.stderr) == (code, shown, said)


def test_the_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from podrace.cli.main import run\n"
        "run(['--help'])\n"
        "heavy = {'llvmlite', 'numpy', 'z3', 'podrace.checker.search', 'podrace.model.scheduler'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stderr == "[]\n"


ENDING = """
import atexit, sys, threading
from podrace.cli import main
atexit.register(print, "ended by the interpreter")
{before}
print("the result")
main.leave(3)
"""


@pytest.mark.parametrize(
    ("before", "by_the_interpreter"),
    [
        ("", False),
        ("import multiprocessing", True),
        ("sys.setprofile(lambda *_: None)", True),
        ("threading.Thread(target=threading.main_thread().join).start()", True),
    ],
)
def test_the_process_ends_at_once_unless_somebody_minds(before: str, by_the_interpreter: bool) -> None:
    program = ENDING.format(before=before)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 3
    assert "the result\n" in ran.stdout  # it was flushed, though the stream is a pipe
    assert ("ended by the interpreter" in ran.stdout) == by_the_interpreter


def test_work_of_minutes_is_told_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressDisplay(None) as display:
        display.say("v1.36.3: 3 runs, 12 steps, 0 differ")
        display.say(building("v1.36.3"))
    assert capsys.readouterr() == ("", "building the scheduler v1.36.3 (first time: 2 to 4 minutes)\n")


def test_progress_in_words() -> None:
    shown = describe(
        Progress(states=1_234_567, transitions=0, depth=17, frontier=2_000, seconds=2.0, memory=5 << 20)
    )
    assert shown == "1,234,567 states  617.3k states/s  depth 17  frontier 2,000  5.0 MiB  2 s"
    assert [scaled_down(n) for n in (0, 999, 1_500, 2_500_000, 3e9)] == ["0", "999", "1.5k", "2.5M", "3.0G"]
    assert [bytes_in_words(n) for n in (12, 2048, 3 << 30)] == ["12 B", "2.0 KiB", "3.0 GiB"]
