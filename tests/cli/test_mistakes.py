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
    "latin.yaml": b"name: caf\xe9\n",
    "null.py": b"x = 1\x00\n",
    "exits.py": b"raise SystemExit(7)\n",
    "huge.yaml": b"nodes: {n: {cpu: 99999999999999999999999}}\npods: {p: {cpu: 1}}\n",
    "word.yaml": b"nodes: {n: {cpu: abc}}\npods: {p: {cpu: 1}}\n",
    "null.json": b"null",
    "object.json": b"{}",
    "folder/none.txt": b"",
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
verify none.py
verify x.py
verify empty.py
verify x.diff
verify 99999
diff
diff --before 1.1 --after 1.2
prove
prove --pods 0 --nodes 1
prove --pods x --nodes 1
audit none.log
audit a.log
audit a.log --since yesterday
fixes nosuch
drift none
test none
init /no/such/x.yaml
ask 72124 ""
ask 72124 "what is love"
reproduce nosuch
lockstep none.json
explore nosuch
schema nosuch
gates --release 9.9
prove --pods 99 --nodes 1
prove --pods 2 --nodes 1 --jobs 0
prove --pods 2 --nodes 1 --parts 0
prove --pods 2 --nodes 1 --examples a.log
check folder
check latin.yaml
check huge.yaml
check word.yaml
check -f latin.yaml
check -f folder
check -f bin.yaml --pods 99
check 72124 --jobs 999999999999
check 72124 --max-memory 999999E
check 72124 --max-states 0
check 72124 --timeout 0
check 72124 --report a.log
check 72124 --graph x.doc
check 72124 --release
check 72124 --drain n1
check 72124 --upgrade 1.37
check 72124 --with-fix 72259 --without-fix 72259
check 72124 --config none.yaml
check 72124 -P null.py
check 72124 -P exits.py
check 72124 --patch folder
explain null.json
explain object.json
explain folder
replay bin.yaml
audit folder
verify folder
verify 72259 --kubernetes v1.36.3
explore 72124 --port 99999999
reproduce folder
init folder
init x.yaml --from nope
new-patch 9bad
help nosuch
check 72124 --nosuch
check 72124 --graph-kind states
check 72124 --disk
reproduce 72124 -o html
audit a.log -o junit
verify 72259 --release 9.9
verify 72259 --pods
prove --pods 1 --nodes 1 --property S-NO
prove --pods 1 --nodes 1 --release 9.9
prove --pods 1 --nodes 1 --journal
explain none.json
replay none.json
properties nosuch
simulate
""".strip().splitlines()
"""The message has to have the last word of a line, or what NAMED has for it."""

NAMED = {
    "check 72124 --gate Foo=true": "Foo",
    "check 72124 --write-scenario x.yaml": "--write-scenario",
    "diff --before 1.1 --after 1.2": "1.1",
    "prove --pods 99 --nodes 1": "write a number from 1 to 6",
    "prove --pods 2 --nodes 1 --examples a.log": "--examples: `a.log` is a file: name a directory",
    "check -f bin.yaml --pods 99": "--pods: write a number from 2 to 16",
    "check 72124 --drain n1": "--drain is about the objects of a cluster",
    "check 72124 --upgrade 1.37": "--upgrade is about the objects of a cluster",
    "check 72124 -P null.py": "null.py: source code string cannot contain null bytes",
    "check 72124 -P exits.py": "exits.py: line 1: SystemExit: 7",
    "check 72124 --patch folder": "folder: this is a directory: name a file",
    "verify 72259 --kubernetes v1.36.3": "--kubernetes",
    "explore 72124 --port 99999999": "is not a number from 0 to 65,535",
}


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return Shell(capsys)


def test_there_are_a_hundred() -> None:
    assert len(set(MISTAKES)) == len(MISTAKES) >= 100


@pytest.mark.parametrize("line", MISTAKES)
def test_one_line_names_what_is_wrong(shell: Shell, line: str) -> None:
    words = shlex.split(line)
    ran = shell(*words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("podrace: ")
    assert NAMED.get(line, words[-1]) in ran.err
