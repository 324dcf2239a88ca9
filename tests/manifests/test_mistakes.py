"""Malformed manifests: each is refused with one line that names file and place, exit code 2, and soon."""

from __future__ import annotations

import math
import re
from pathlib import Path as File
from typing import Any

import pytest

from podrace.cli import main
from tests.manifests.manifest_objects import OBJECTS, REQUIRED, Path, at, objects, text_of

NAN = math.nan
NUMBER = ["x", -1, 1.5, NAN, 10**30, [], {}]
NAME = ["", "Upper", "a/b", "x" * 300, 7, [], {}]
LIST = ["x", 3, {"a": 1}]
MAP = ["x", 3, ["a"]]
TEXT = [7, True, [], {}]
WORD = ["Other", 7, [], {}]
SWITCH = ["yes", 1, [], {}]
AMOUNT = ["-1", "abc", NAN, "1e30", "1Zi", "9" * 40, True, [], {}]
NODE_AMOUNT = [value for value in AMOUNT if value != "1e30"]
"""More than a node can have is capped, with a note."""
LABEL_KEYS = [{"-bad-": "x"}, {"app": 1}, {"app": "a b"}, {"app": []}, {"app": "x" * 64}]
IGNORED: list[Any] = [
    "", "S-UNIQ", "S-UNIQ:", ": why", "S-UNIQ: a\nS-UNIQ: b", "S UNIQ: why", "S-UNIQ: " + "x" * 300, "S-UNIQ: \x1b", *TEXT,
]  # fmt: skip
TERM = ("preemptor", "spec", "affinity", "podAntiAffinity", REQUIRED)
NODE_TERMS = ("preemptor", "spec", "affinity", "nodeAffinity", REQUIRED)
KEYS_ALONE = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "matchLabelKeys": ["app"],
}
SPREAD = ("preemptor", "spec", "topologySpreadConstraints")
PROFILE = ("config", "profiles", 0)

WRONG: list[tuple[Path, list[Any]]] = [
    (("victim", "metadata", "annotations"), MAP),
    (("victim", "metadata", "annotations"), [{"podrace.io/ignore": value} for value in IGNORED]),
    (("node", "kind"), [7, [], {}]),
    (("node", "apiVersion"), [7, [], {}]),
    (("node", "metadata"), MAP),
    (("node", "metadata", "name"), NAME),
    (("node", "metadata", "uid"), TEXT),
    (("node", "metadata", "labels"), [*MAP, *LABEL_KEYS]),
    (("node", "spec"), MAP),
    (("node", "spec", "taints"), [*LIST, [{}], [3], [{"key": "a", "effect": "Never"}], [{"effect": "NoSchedule"}]]),
    (("node", "spec", "unschedulable"), SWITCH),
    (("node", "status"), MAP),
    (("node", "status", "allocatable"), MAP),
    (("node", "status", "allocatable", "cpu"), NODE_AMOUNT),
    (("node", "status", "allocatable", "memory"), NODE_AMOUNT),
    (("node", "status", "allocatable", "pods"), NODE_AMOUNT),
    (("node", "status", "allocatable", "example.com/gpu"), [*NODE_AMOUNT, "0.5", "100m"]),
    (("node", "status", "capacity", "cpu"), NODE_AMOUNT),
    (("class", "value"), NUMBER[:1] + NUMBER[2:] + [2_000_000_000]),
    (("class", "globalDefault"), SWITCH),
    (("class", "preemptionPolicy"), WORD),
    (("namespace", "metadata", "labels"), [*MAP, *LABEL_KEYS]),
    (("victim", "metadata", "namespace"), NAME),
    (("victim", "metadata", "ownerReferences"), [*LIST, [3], [{}], [{"kind": "Job"}], [{"kind": 3, "name": "x"}]]),
    (("victim", "spec", "nodeName"), TEXT),
    (("victim", "spec", "priority"), NUMBER[:1] + NUMBER[2:]),
    (("victim", "spec", "terminationGracePeriodSeconds"), NUMBER),
    (("victim", "spec", "tolerations"), [*LIST, [3], [{"operator": "Near"}], [{"operator": "Equal"}]]),
    (("victim", "status", "phase"), WORD),
    (("victim", "status", "startTime"), ["yesterday", 7, [], "2026-13-01T00:00:00Z"]),
    (("preemptor", "spec"), MAP),
    (("preemptor", "spec", "containers"), [*LIST, [], [3]]),
    (("preemptor", "spec", "containers", 0, "resources"), MAP),
    (("preemptor", "spec", "containers", 0, "resources", "requests"), MAP),
    (("preemptor", "spec", "containers", 0, "resources", "requests", "cpu"), [*AMOUNT, "3"]),
    (("preemptor", "spec", "containers", 0, "resources", "limits", "memory"), [*AMOUNT, "1Mi"]),
    (("preemptor", "spec", "initContainers"), LIST),
    (("preemptor", "spec", "overhead", "cpu"), AMOUNT),
    (("preemptor", "spec", "priorityClassName"), ["nobody", 7, [], {}]),
    (("preemptor", "spec", "preemptionPolicy"), WORD),
    (("preemptor", "spec", "schedulerName"), TEXT),
    (("preemptor", "spec", "nodeSelector"), [*MAP, *LABEL_KEYS]),
    (("preemptor", "spec", "affinity"), MAP),
    ((*NODE_TERMS, "nodeSelectorTerms"), [*LIST, [], [3], [{"matchExpressions": [{"key": "a", "operator": "Is"}]}]]),
    (TERM, [*LIST, [3], [{}], [{"labelSelector": {}}]]),
    ((*TERM, 0, "namespaces"), LIST),
    ((*TERM, 0, "topologyKey"), TEXT),
    (SPREAD, [*LIST, [3], [[]], [{}], [{"maxSkew": 1, "topologyKey": "zone"}], [KEYS_ALONE]]),
    ((*SPREAD, 0, "maxSkew"), [*NUMBER, 0, "1", 1 << 40]),
    ((*SPREAD, 0, "topologyKey"), [7, True, "", "-bad-", "a b", [], {}]),
    ((*SPREAD, 0, "whenUnsatisfiable"), WORD),
    ((*SPREAD, 0, "labelSelector"), MAP),
    ((*SPREAD, 0, "labelSelector", "matchLabels"), [*MAP, *LABEL_KEYS]),
    (
        (*SPREAD, 0, "labelSelector", "matchExpressions"),
        [*LIST, [3], [{"key": "a", "operator": "Gt", "values": ["1"]}], [{"key": "a", "operator": "In"}], [{"operator": "Exists"}]],
    ),
    ((*SPREAD, 0, "matchLabelKeys"), [*LIST, [3], ["-bad-"], [[]], [{}]]),
    ((*SPREAD, 0, "minDomains"), [*NUMBER, 0, "1", 1 << 40]),
    ((*SPREAD, 0, "nodeAffinityPolicy"), WORD),
    ((*SPREAD, 0, "nodeTaintsPolicy"), WORD),
    ((*SPREAD, 1, "whenUnsatisfiable"), WORD),
    (("preemptor", "spec", "schedulingGates"), LIST),
    (("preemptor", "spec", "volumes"), LIST),
    (("deployment", "spec"), MAP),
    (("deployment", "spec", "replicas"), NUMBER),
    (("deployment", "spec", "selector"), [*MAP, {"matchLabels": {"app": "other"}}]),
    (("deployment", "spec", "template"), MAP),
    (("deployment", "spec", "template", "metadata", "labels"), [*MAP, *LABEL_KEYS]),
    (("job", "spec", "parallelism"), NUMBER),
    (("job", "spec", "completions"), NUMBER),
    (("job", "spec", "suspend"), SWITCH),
    (("job", "status", "succeeded"), NUMBER),
    (("budget", "spec", "selector"), [*MAP, {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}]),
    (("budget", "status", "disruptionsAllowed"), NUMBER),
    (("budget", "status", "disruptedPods"), MAP),
    (("config", "percentageOfNodesToScore"), [*NUMBER, 101]),
    (("config", "profiles"), [*LIST, [3], [{}, {}]]),
    ((*PROFILE, "schedulerName"), TEXT),
    ((*PROFILE, "plugins"), MAP),
    ((*PROFILE, "plugins", "filter", "disabled"), [*LIST, [3], [{}], [{"name": 3}]]),
    ((*PROFILE, "pluginConfig"), [*LIST, [{}]]),
    (
        (*PROFILE, "pluginConfig"),
        [[{"name": "PodTopologySpread", "args": {"defaultConstraints": x}}] for x in (*LIST, [3], [{"whenUnsatisfiable": 3}])],
    ),
    ((*PROFILE, "pluginConfig", 0, "args", "minCandidateNodesPercentage"), [*NUMBER, 101]),
]  # fmt: skip
"""For each field that is read, values that it cannot have."""

MISSING: list[Path] = [
    *((name, "kind") for name in OBJECTS),
    *((name, "apiVersion") for name in OBJECTS),
    *((name, "metadata") for name in OBJECTS if name != "config"),
    *((name, "metadata", "name") for name in OBJECTS if name != "config"),
    ("node", "status"), ("class", "value"), ("victim", "spec"),
    ("preemptor", "spec", "containers"), ("deployment", "spec"), ("deployment", "spec", "template"),
    ("job", "spec", "template", "spec"), *((*SPREAD, 0, f) for f in ("maxSkew", "topologyKey", "whenUnsatisfiable")),
    ("budget", "spec"), ("class", "apiVersion"),
]  # fmt: skip

BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)
NODE, WAITING = text_of(objects("node")), text_of(objects("node", "class", "rival"))

TEXTS: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n\n# nothing\n---\n---\n",
    "nothing": b"null\n",
    "a scalar": b"hello\n",
    "a number": b"3\n",
    "a list": b"- a\n- b\n",
    "a list of nulls": b"kind: List\napiVersion: v1\nitems: [null, 3]\n",
    "items of another type": b"kind: List\napiVersion: v1\nitems: {a: 1}\n",
    "an empty list": b"kind: List\napiVersion: v1\nitems: []\n",
    "a scenario": b"nodes: {n: {cpu: 1}}\npods: {p: {cpu: 1}}\n",
    "UTF-16, little": WAITING.encode("utf-16"),
    "UTF-16, big": b"\xfe\xff" + WAITING.encode("utf-16-be"),
    "UTF-16 without mark": WAITING.encode("utf-16-le"),
    "UTF-32": WAITING.encode("utf-32"),
    "Latin-1": NODE.replace("shop", "caf\u00e9").encode("latin-1"),
    "binary": bytes(range(256)) * 20,
    "NUL": NODE.encode().replace(b"n1", b"n\x001"),
    "escape": NODE.encode().replace(b"n1", b"n\x1b1"),
    "a mark inside": NODE.encode() + "---\n\ufeff\nkind: x".encode(),
    "tabs": b"kind: Pod\n\tapiVersion: v1\n",
    "an open quote": b"kind: \"Pod\napiVersion: v1\n",
    "an open bracket": b"kind: [Pod\n",
    "two colons": b"kind: Pod: v1\n",
    "an indent too few": b"kind: Pod\n  apiVersion: v1\n",
    "half a JSON": b'{"kind": "Pod", "apiVersion"',
    "billion laughs": BOMB.encode(),
    "an alias to itself": b"&a [*a]\n",
    "an alias to nothing": b"a: *b\n",
    "a merge of a list": b"x: &x [1]\ny: {<<: *x}\n",
    "a Python tag": b"!!python/object/apply:os.system ['true']\n",
    "a tag of its own": b"kind: !Pod x\n",
    "binary data": b"kind: !!binary aGVsbG8=\n",
    "a set": b"kind: !!set {a}\n",
    "a key twice": b"kind: Pod\nkind: Node\n",
    "a mapping as key": b"{a: 1}: b\n",
    "a list as key": b"? [a]\n: b\n",
    "deep lists": b"[" * 200_000,
    "deep mappings": b"{a: " * 200_000,
    "deep blocks": "".join(" " * i + "a:\n" for i in range(2000)).encode(),
    "deep dashes": b"- " * 100_000 + b"x",
    "a directive": b"%YAML 9.9\n---\nkind: Pod\n",
    "a long line": b"kind: " + b"x" * 1_000_000 + b"\n",
    "no node": text_of(objects("class", "rival")).encode(),
    "nobody waits": NODE.encode(),
    "an object twice": text_of(objects("node", "node")).encode(),
    "a uid twice": (WAITING + "---\n" + NODE.replace("name: n1", "name: n2")).encode(),
    "a typed list of others": b"kind: PodList\napiVersion: v1\nitems: [{metadata: {name: x}}]\n",
    "two configurations": text_of(objects("node", "config", "config")).encode(),
}  # fmt: skip


def cycle(length: int) -> bytes:
    """ReplicaSets that own each other in a circle."""
    sets = objects("node", "rival", *["replicaset"] * length)
    for i, one in enumerate(sets[2:]):
        above = f"rs{(i + 1) % length}"
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": above,
            "uid": f"u-{above}",
            "controller": True,
        }
        one["metadata"] = {
            "name": f"rs{i}",
            "namespace": "shop",
            "uid": f"u-rs{i}",
            "ownerReferences": [owner],
        }
    return text_of(sets).encode()


TEXTS |= {f"owners in a circle of {n}": cycle(n) for n in (1, 2, 5, 200)}

CASES = {
    **{f"{'.'.join(map(str, path))} = {value!r}"[:90] + f" #{i}": at(path, value).encode() for path, values in WRONG for i, value in enumerate(values)},
    **{f"{'.'.join(map(str, path))} missing": at(path, None, delete=True).encode() for path in MISSING},
    **TEXTS,
}  # fmt: skip


def refused(data: bytes, folder: File, capsys: pytest.CaptureFixture[str]) -> str:
    """The line with which this file is refused."""
    file = folder / "m.yaml"
    file.write_bytes(data)
    code = main.run(["check", "-f", str(file), "--max-states", "1"])
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert (code, out, len(lines)) == (2, "", 1), (code, err)
    assert lines[0].isprintable()
    return lines[0]


def test_there_are_more_than_a_hundred() -> None:
    assert len(CASES) > 400


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.ci) for part in range(1, 8))])
def test_malformed_manifests_are_refused_in_one_line(
    part: int, tmp_path: File, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {}
    for name in list(CASES)[part::8]:
        try:
            line = refused(CASES[name], tmp_path, capsys)
            place = re.match(rf"podrace: {re.escape(str(tmp_path / 'm.yaml'))}(:\d+)?: \S", line)
            if (
                place is None
                or not (place[1] or name in WITHOUT_LINE)
                or len(line) > len(str(tmp_path)) + 420
            ):
                wrong[name] = line
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"
        except AssertionError as error:
            wrong[name] = str(error)
    assert wrong == {}


WITHOUT_LINE = {"empty", "blank", "nothing", "an empty list", "no node", "nobody waits"}
"""What is missing is in no line."""


def test_the_unchanged_objects_are_read(tmp_path: File, capsys: pytest.CaptureFixture[str]) -> None:
    """So that none of the mutations is refused for another reason."""
    file = tmp_path / "m.yaml"
    file.write_text(text_of(objects()))
    code = main.run(
        ["check", "-f", str(file), "--property", "S-CAP", "--max-states", "1", "--release", "1.34.0"]
    )
    assert code in (0, 3)
    assert "shop/api-1" in capsys.readouterr().out
