"""Mistakes that users make, one a line: each gets one line that names what is wrong, and exit code 2."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.helpers import Shell

FILES = {
    "empty.yaml": b"",
    "bad.yaml": b"nodes: [\n",
    "list.yaml": b"- a\n",
    "bin.yaml": b"\x00\xff\xfe",
    "bad.json": b"{",
    "x.py": b"import nothing_such\n",
    "e.py": b"def\n",
    "empty.py": b"",
    "x.diff": b"hello\n",
    "a.log": b"hello\n",
}

MISTAKES = """
check empty.yaml
check bad.yaml
check list.yaml
check bin.yaml
check -f bad.json
check -f empty.yaml
check -f none.json
check 72124 --timeout 5x
check 72124 --timeout -1
check 72124 --max-states many
check 72124 --gate Foo
check 72124 --gate Foo=true
check 72124 --gate =true
check 72124 -P none.py
check 72124 -P x.py
check 72124 -P e.py
check 72124 -P empty.py
check 72124 --patch none.py
check 72124 --patch x.py
check 72124 --save-trace none/x.json
check 72124 --time scale
check 72124 --slow nobody
check 72124 --baseline none.yaml
check 72124 --closing soon
check 72124 -o pdf
check 72124 --write-scenario x.yaml
explain bad.json
explain empty.yaml
test-from none.json
verify none.py
verify x.py
verify empty.py
verify x.diff
verify 99999
diff
diff --before 1.1 --after 1.2
simulate none
simulate 72124 --runs x
prove
prove --pods 0 --nodes 1
prove --pods x --nodes 1
synthesize --pods 99
induct S-FOO
export none
export 72124 --to nothing
audit none.log
audit a.log
audit a.log --since yesterday
fixes nosuch
drift none
test none
init /no/such/x.yaml
config nothing
ask 72124 ""
ask 72124 "what is love"
ways 72124 --count x
reproduce nosuch
lockstep none.json
explore nosuch
schema nosuch
gates --release 9.9
""".strip().splitlines()
"""The message has to name the last word of a line, or what NAMED has for it."""

NAMED = {
    "check 72124 --gate Foo=true": "Foo",
    "check 72124 --write-scenario x.yaml": "--write-scenario",
    "diff --before 1.1 --after 1.2": "1.1",
    "simulate 72124 --runs x": "--runs",
    "synthesize --pods 99": "--pods",
    "export none": "--to",
    "ways 72124 --count x": "--count",
}


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return Shell(capsys)


def test_there_are_sixty() -> None:
    assert len(set(MISTAKES)) >= 60


@pytest.mark.parametrize("line", MISTAKES)
def test_one_line_names_what_is_wrong(shell: Shell, line: str) -> None:
    words = shlex.split(line)
    ran = shell(*words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("podrace: ")
    assert NAMED.get(line, words[-1]) in ran.err
