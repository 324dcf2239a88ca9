"""The copy of upstream's sources in which the goroutine that moves parked pods can be held."""

from __future__ import annotations

from pathlib import Path

from podrace.reproduce.modules.held import digest_of, held_copy, with_holds, with_order, with_short_flush

QUEUE = """\
package queue

import (
	"sync"
	"time"
)

type PriorityQueue struct {
	lock sync.RWMutex
}

func (p *PriorityQueue) requeue() {
	defer p.Done(pInfo.Pod.UID)
}

func (p *PriorityQueue) move() {
	if hints {
		if added := p.activeQ.addEventIfAnyInFlight(a, b, event); added {
		}
	}
}
"""

HELD = """\
package queue

import (
	"time"
)

type PriorityQueue struct {
	lock PodraceRWMutex
}

func (p *PriorityQueue) requeue() {
	defer func() {
		podraceAmid(true)
		p.Done(pInfo.Pod.UID)
	}()
}

func (p *PriorityQueue) move() {
	if hints {
		podraceAmid(activated)
		if added := p.activeQ.addEventIfAnyInFlight(a, b, event); added {
		}
	}
}
"""

RECORDER = """\
func (r *MetricAsyncRecorder) FlushMetrics() {
	for i := 0; i < r.bufferSize; i++ {
		select {
		case m := <-r.bufferCh:
		case m := <-r.counterCh:
		}
	}
}

func (r *MetricAsyncRecorder) other() {
	for i := 0; i < r.bufferSize; i++ {
		<-r.third:
	}
}
"""

CYCLE = """\
package scheduler

func (sched *Scheduler) submitPodGroupAlgorithmResult() {
	for _, podGroupResult := range podGroupResults {
		submit(podGroupResult)
	}
}
"""


def test_movers_are_held_between_the_move_and_the_note_of_its_event() -> None:
    assert with_holds(QUEUE) == HELD


def test_done_that_is_asked_for_once_is_after_a_call_as_well() -> None:
    """As from 1.37 on."""
    done = "\tdefer p.Done(pInfo.Pod.UID)\n"
    asked = "\tdefer func() {\n\t\tif !calledDone {\n{}\t\t\tp.Done(pInfo.Pod.UID)\n\t\t}\n\t}()\n"
    held = with_holds(QUEUE.replace(done, asked.replace("{}", "")))
    assert held is not None
    assert asked.replace("{}", "\t\t\tpodraceAmid(true)\n") in held


def test_a_queue_of_another_kind_is_left_alone() -> None:
    assert with_holds(HELD) is None
    assert with_holds(QUEUE.replace("activeQ", "other")) is None
    assert with_holds(QUEUE + "\tlock sync.RWMutex\n") is None


def test_a_lock_of_another_kind_keeps_its_import() -> None:
    held = with_holds(QUEUE + "\nvar once sync.Once\n")
    assert held is not None
    assert '\t"sync"\n' in held


def test_the_flush_of_metrics_ends_where_nothing_is_left() -> None:
    first = "\tfor i := 0; i < r.bufferSize; i++ {\n"
    short = "\tfor i := 0; i < r.bufferSize && len(r.bufferCh)+len(r.counterCh) > 0; i++ {\n"
    assert with_short_flush(RECORDER) == RECORDER.replace(first, short, 1)
    assert with_short_flush("") == ""


def test_the_results_of_a_tree_come_in_an_order_that_is_asked_for() -> None:
    ordered = CYCLE.replace("range podGroupResults", "range podraceOrdered(schedFwk, podGroupResults)")
    assert with_order(CYCLE) == ordered
    assert with_order(ordered) == ordered


def test_the_members_of_a_tree_come_group_by_group() -> None:
    entries = "\t\tfor _, list := range pgqi.queuedPodInfos {\n"
    assert with_order(entries) == "\t\tfor _, list := range podraceByGroup(pgqi) {\n"


def test_a_copy_changes_no_file_of_the_sources(tmp_path: Path) -> None:
    sources, copy = tmp_path / "sources", tmp_path / "copy"
    files = {
        "go.mod": "module k8s.io/kubernetes\n",
        "pkg/scheduler/backend/queue/scheduling_queue.go": QUEUE,
        "pkg/scheduler/metrics/metric_recorder.go": RECORDER,
        "pkg/scheduler/schedule_one_podgroup.go": CYCLE,
        "pkg/scheduler/framework/types.go": "package framework\n",
        "vendor/left/out.go": "package left\n",
    }
    for name, text in files.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text, encoding="utf-8")
    for _ in range(2):  # one that is there is made again
        assert held_copy(sources, copy)
    assert {name: (sources / name).read_text(encoding="utf-8") for name in files} == files
    queue = copy / "pkg/scheduler/backend/queue"
    assert (queue / "scheduling_queue.go").read_text(encoding="utf-8") == HELD
    assert "type PodraceRWMutex struct" in (queue / "podrace_lock.go").read_text(encoding="utf-8")
    scheduler = copy / "pkg/scheduler"
    assert (scheduler / "schedule_one_podgroup.go").read_text(encoding="utf-8") == with_order(CYCLE)
    assert "func podraceOrdered[" in (scheduler / "podrace_order.go").read_text(encoding="utf-8")
    assert (scheduler / "framework" / "types.go").samefile(sources / "pkg/scheduler/framework/types.go")
    assert not (scheduler / "framework" / "podrace_groups.go").exists()
    assert not (copy / "vendor").exists()
    assert (copy / "go.mod").samefile(sources / "go.mod")


def test_a_copy_without_such_a_queue_says_so(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    assert not held_copy(tmp_path / "sources", tmp_path / "copy")


def test_a_tree_is_told_by_what_go_builds_of_it(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.go").write_text("package a\n", encoding="utf-8")
    first = digest_of(tmp_path)
    (tmp_path / "pkg" / "notes.txt").write_text("nothing", encoding="utf-8")
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "b.go").write_text("package b\n", encoding="utf-8")
    assert digest_of(tmp_path) == first
    (tmp_path / "pkg" / "a.go").write_text("package a // changed\n", encoding="utf-8")
    assert digest_of(tmp_path) != first
