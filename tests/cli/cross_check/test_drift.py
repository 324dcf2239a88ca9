"""`podrace drift`: a source tree held against one that was looked at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from podrace.model.history.upstream import mirrors
from tests.cli.helpers import Shell

PLACES = tuple(dict.fromkeys(place for mirror in mirrors() for place in mirror.places))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with every function that the model stands for, each with a body of its own."""
    root = tmp_path / "kubernetes"
    bodies: dict[str, list[str]] = {"scheduler.go": []}
    for place in PLACES:
        file, _, name = place.partition(":")
        kind, _, method = name.rpartition(".")
        head = f"func (x *{kind}) {method}()" if kind else f"func {name}()"
        bodies.setdefault(file, []).append(f'{head} {{\n\twork("{name}")\n}}\n')
    for file, texts in bodies.items():
        path = root / "pkg" / "scheduler" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("package x\n\n" + "\n".join(texts))
    return root


def noted(shell: Shell, tree: Path, record: Path, version: str = "1.35.4") -> None:
    ran = shell("drift", str(tree), "--record", str(record), "--update", "--release", version)
    assert (ran.code, ran.err) == (0, f"wrote {record}: {len(PLACES)} functions\n")


def test_from_one_tree_to_the_next(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record = tmp_path / "trees.txt"
    noted(shell, tree, record)
    ran = shell("drift", str(tree), "--record", str(record))
    count = len(PLACES)
    assert ran.code == 0
    assert " ".join(ran.out.split()) == (
        f"{count} of {count} functions are the same since 1.35.4: 0 cannot matter, 0 read this, 0 new, 0 gone; gates: 0; "
        "outside of the model: 0"
    )

    queue = tree / "pkg" / "scheduler" / "backend" / "queue"
    (queue / "other.go").write_text(
        (queue / "nominator.go").read_text().replace("work(", "// moved\n\twork(")
    )
    (queue / "nominator.go").unlink()
    one = tree / "pkg" / "scheduler" / "schedule_one.go"
    one.write_text(
        one.read_text()
        .replace('work("Scheduler.assume")', 'work("assumed")')
        .replace('work("Scheduler.bind")', 'klog.Info("a line"); work("Scheduler.bind")')
        .replace("func selectHost", "func pick")
        .replace('func prioritizeNodes() {\n\twork("prioritizeNodes")\n}\n', "")
        + "\nfunc truncateMessage() { any() }\n\nfunc scheduleTwo() { pop(); pop() }\n"
    )
    ran = shell("drift", str(tree), "--record", str(record), "-o", "json")
    assert ran.code == 1
    told = json.loads(ran.out)
    assert told["release"] == "1.35.4"
    found = {d["place"]: (d["what"], d["reading"], d["where"]) for d in told["drifted"]}
    nominator = [
        place.partition(":")[2] for place in PLACES if place.startswith("backend/queue/nominator.go:")
    ]
    assert found == {
        "schedule_one.go:selectHost": ("renamed", "cannot matter", "schedule_one.go:pick"),
        "schedule_one.go:prioritizeNodes": ("gone", "read this", None),
        "schedule_one.go:scheduleTwo": ("new", "read this", None),
        "schedule_one.go:Scheduler.assume": ("changed", "read this", None),
        "schedule_one.go:Scheduler.bind": ("changed", "cannot matter", None),
        **{
            f"backend/queue/nominator.go:{name}": ("moved", "cannot matter", f"backend/queue/other.go:{name}")
            for name in nominator
        },
    }
    assert told["counts"] == {
        "same": count - 4 - len(nominator), "cannot matter": 2 + len(nominator), "read this": 1, "new": 1, "gone": 1,
        "outside": 1, "gates": 0,
    }  # fmt: skip
    (assumed,) = [d for d in told["drifted"] if d["place"] == "schedule_one.go:Scheduler.assume"]
    assert assumed["model"] == [
        "scheduler.cycles.schedule_pod.SchedulePod.assume",
        "scheduler.cycles.schedule_pod.SchedulePod.start_binding",
    ]
    lines = shell("drift", str(tree), "--record", str(record)).out.splitlines()
    assert (
        lines.index("cannot matter")
        < lines.index("read this")
        < lines.index("schedule_one.go:prioritizeNodes: gone")
    )
    assumed_at = lines.index("schedule_one.go:Scheduler.assume: changed")
    assert [line.strip() for line in lines[assumed_at + 1 : assumed_at + 3]] == [
        "in the model: scheduler.cycles.schedule_pod.SchedulePod.assume,",
        "scheduler.cycles.schedule_pod.SchedulePod.start_binding",
    ]
    assert lines[lines.index("schedule_one.go:scheduleTwo: new") + 1] == (
        "  nobody has decided about it: docs/notebook/functions.md does not have it"
    )


def test_a_tree_that_only_renames_gives_nothing_to_read(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record = tmp_path / "trees.txt"
    noted(shell, tree, record)
    one = tree / "pkg" / "scheduler" / "schedule_one.go"
    one.write_text(one.read_text().replace("(x *Scheduler)", "(sched *Scheduler)"))
    ran = shell("drift", str(tree), "--record", str(record))
    assert ran.code == 0
    assert "read this\n" not in ran.out
    assert "schedule_one.go:Scheduler.assume: changed\n" in ran.out


def test_since_an_older_tree(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record = tmp_path / "trees.txt"
    noted(shell, tree, record)
    one = tree / "pkg" / "scheduler" / "schedule_one.go"
    one.write_text(one.read_text().replace('work("Scheduler.assume")', 'work("assumed")'))
    noted(shell, tree, record, "1.36.3")
    assert shell("drift", str(tree), "--record", str(record)).code == 0
    ran = shell("drift", str(tree), "--record", str(record), "--since", "1.35.4")
    assert ran.code == 1
    assert "schedule_one.go:Scheduler.assume: changed\n" in ran.out
    ran = shell("drift", str(tree), "--record", str(record), "--since", "1.34.0")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --since: no tree of 1.34.0 was looked at; there are 1.35.4, 1.36.3\n",
    )


def test_gates_that_are_not_what_they_were(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record = tmp_path / "trees.txt"
    noted(shell, tree, record, "1.36.3")
    features = tree / "pkg" / "features"
    features.mkdir()
    (features / "kube_features.go").write_text(
        "package features\n\nvar d = map[featuregate.Feature]featuregate.VersionedSpecs{\n\tBrandNew: {\n\t\t"
        '{Version: version.MustParse("1.37"), Default: true, PreRelease: featuregate.Beta},\n\t},\n}\n'
    )
    one = tree / "pkg" / "scheduler" / "schedule_one.go"
    one.write_text(one.read_text() + "\nvar on = feature.Enabled(features.BrandNew)\n")
    ran = shell("drift", str(tree), "--record", str(record), "-o", "json")
    assert ran.code == 1
    told = {gate["name"]: gate["what"] for gate in json.loads(ran.out)["gates"]}
    assert told["BrandNew"] == "BrandNew: beta, on, not in the table of gates"
    assert told["SchedulerAsyncAPICalls"] == "SchedulerAsyncAPICalls: no such gate, was: beta, off"


def test_a_vendored_tree_and_the_scheduler_itself(shell: Shell, tree: Path, tmp_path: Path) -> None:
    vendored = tmp_path / "project" / "vendor" / "k8s.io" / "kubernetes"
    shutil.copytree(tree, vendored)
    first = shell("drift", str(tmp_path / "project"), "-o", "json")
    second = shell("drift", str(tree / "pkg" / "scheduler"), "-o", "json")
    assert (first.code, second.code) == (1, 1)
    assert first.out == second.out
    assert json.loads(first.out)["release"] == "1.38.0-beta.0"


def test_what_a_tree_lacks_is_named_and_is_no_difference(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record, staged = tmp_path / "trees.txt", tree / "staging/src/k8s.io/kube-scheduler/framework"
    staged.mkdir(parents=True)
    (staged / "more.go").write_text("package x\n\nfunc assign() { work() }\n")
    assert shell("drift", str(tree), "--record", str(record), "--update", "--release", "1.35.4").code == 0
    assert "not compared" not in shell("drift", str(tree), "--record", str(record)).out
    shutil.rmtree(tree / "pkg" / "registry")
    shutil.rmtree(tree / "staging")
    ran = shell("drift", str(tree), "--record", str(record))
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == (
        "not compared, as this tree lacks them: pkg/registry, k8s.io/kube-scheduler"
    )
    ran = shell("drift", str(tree), "--record", str(record), "-o", "json")
    assert json.loads(ran.out)["not_compared"] == ["pkg/registry", "k8s.io/kube-scheduler"]


def test_the_folder_that_was_called_internal(shell: Shell, tree: Path, tmp_path: Path) -> None:
    record = tmp_path / "trees.txt"
    noted(shell, tree, record)
    scheduler = tree / "pkg" / "scheduler"
    (scheduler / "backend").rename(scheduler / "internal")
    assert shell("drift", str(tree), "--record", str(record)).code == 0


def test_mistakes(shell: Shell, tree: Path, tmp_path: Path) -> None:
    ran = shell("drift", str(tmp_path / "nowhere"))
    assert (ran.code, ran.err) == (
        2,
        f"podrace: `{tmp_path / 'nowhere'}` is no directory: name the root of a kubernetes source tree\n",
    )
    ran = shell("drift", str(tmp_path))
    assert ran.code == 2
    assert ran.err.startswith(f"podrace: `{tmp_path}` has no pkg/scheduler/scheduler.go: ")
    broken = tmp_path / "broken.txt"
    broken.write_text("")
    ran = shell("drift", str(tree), "--record", str(broken))
    assert (ran.code, ran.err) == (
        2,
        f"podrace: --record: `{broken}` cannot be read: it has no line `trees`\n",
    )
    ran = shell("drift", str(tree), "--record", str(tmp_path / "new.txt"), "--update")
    assert (ran.code, ran.err) == (
        2,
        "podrace: --update: say with --release which version this tree is, for example 1.36.3\n",
    )
    (tree / "pkg" / "scheduler" / "scheduler.go").write_bytes(b"\xff\xfe")
    assert shell("drift", str(tree)).err.endswith("scheduler.go: cannot be read: it is not UTF-8\n")
