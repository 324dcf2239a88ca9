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
    "ok.yaml": b"nodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1}}\n",
    "units.yaml": b"nodes: {n1: {cpu: 2cores}}\npods: {p: {cpu: 1}}\n",
    "memory.yaml": b"nodes: {n1: {memory: 4GB}}\npods: {p: {cpu: 1}}\n",
    "below.yaml": b"nodes: {n1: {cpu: -2}}\npods: {p: {cpu: 1}}\n",
    "field.yaml": b"nodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1, node: n1}}\n",
    "rows.yaml": b"nodes:\n  - {name: n1, cpu: 2}\npods: {p: {cpu: 1}}\n",
    "tab.yaml": b"nodes:\n\t- n1\n",
    "number.yaml": b"42\n",
    "release.yaml": b"release: '1.99'\nnodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1}}\n",
    "expects.yaml": b"nodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1}}\nexpect: {S-CAPP: holds}\n",
    "verdict.yaml": b"nodes: {n1: {cpu: 2}}\npods: {p: {cpu: 1}}\nexpect: {S-CAP: OK}\n",
    "map.yaml": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    "pods.yaml": b"apiVersion: v1\nkind: Pods\nmetadata: {name: a}\n",
    "known.yaml": b"known:\n- property: S-CAP\n",
    "until.yaml": b"known:\n- {scenario: ok, property: S-CAP, reason: x, until: yesterday}\n",
    "settings.yaml": b"nonsense: 1\n",
    "empty.diff": b"",
    "empty.log": b"",
    "raises.py": b"raise ValueError('boom')\n",
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
check units.yaml
check memory.yaml
check below.yaml
check field.yaml
check rows.yaml
check tab.yaml
check number.yaml
check release.yaml
check ok.yaml --release 1.34.x
check ok.yaml --release v1
check ok.yaml --release 134
check ok.yaml --release kubernetes-1.34.0
check ok.yaml --release 1.34.0+k3s1
check 1.34
check S-STUCK
check Deployment
check ok.yaml --property CAP
check ok.yaml --property S-CAP,S-NOM
check ok.yaml --max-states 5Q
check ok.yaml --max-memory 4
check ok.yaml -j many
check ok.yaml --baseline known.yaml
check ok.yaml --baseline until.yaml
check ok.yaml --baseline ok.yaml
check ok.yaml --graph none/x.svg
check ok.yaml --save-trace folder
check ok.yaml --with-fix abc
check ok.yaml --patch empty.py
check ok.yaml --patch raises.py
check ok.yaml -P ok.yaml
check ok.yaml -c settings.yaml
check ok.yaml --engine c
check ok.yaml --affected --release 1.34
check raises.py:Table
check -f map.yaml
check -f pods.yaml
check -f ok.yaml
check -f a.log
test expects.yaml
test verdict.yaml
test ok.yaml
test bad.yaml
test folder
audit empty.log
audit map.yaml
audit a.log --until 2026-11-29T09:00:00Z --since 2026-11-29T10:00:00Z
audit a.log --property S-NOM
hazards nosuchword
races nosuch
properties qqq
properties S-CAPP
diff x.diff
diff 1.34 1.34
verify empty.diff
verify ok.yaml
verify x.diff 1.36
verify x.diff --property S-CAP
verify x.diff --release 1.36 --kubernetes v1.36.3
verify --repo folder
new-patch My-Patch
drift x.diff
reproduce object.json
explore ok.yaml --release 9
ask ok.yaml pop(q)
explain S-STUCK
lockstep 72124
lockstep --clusters 0
prove --pods 1 --nodes 1 --scope foo=1
prove --pods 1 --nodes 1 --resource disk
""".strip().splitlines()
"""The message has to have the last word of a line, or what NAMED has for it."""

NAMED = {
    "check 72124 --gate Foo=true": "Foo",
    "check ok.yaml --property S-CAP,S-NOM": "one --property for each",
    "check ok.yaml --graph none/x.svg": "there is no directory `none`",
    "check ok.yaml --patch empty.py": "`podrace new-patch --list` has all",
    "check ok.yaml --affected --release 1.34": "leave out --release",
    "check raises.py:Table": "raises.py: line 1: ValueError: boom",
    "check ok.yaml --engine c": "'c' is not one of native, reference",
    "check S-STUCK": "`S-STUCK` looks like a property: name a scenario",
    "test bad.yaml": "bad.yaml:1: not a YAML that podrace reads",
    "audit a.log --until 2026-11-29T09:00:00Z --since 2026-11-29T10:00:00Z": "write the earlier time as --since",
    "diff x.diff": "for a Go diff, use `podrace verify FILE`",
    "verify x.diff 1.36": "its version with --kubernetes",
    "verify x.diff --property S-CAP": "--property is not for a Go change",
    "verify x.diff --release 1.36 --kubernetes v1.36.3": "leave out --release",
    "verify --repo folder": "--repo and --range belong together",
    "explain S-STUCK": "name a file that `podrace check --save-trace` wrote",
    "prove --pods 1 --nodes 1 --scope foo=1": "unknown field `foo`",
    "prove --pods 1 --nodes 1 --resource disk": ": 'disk' is not one of",
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
