"""What the normal form of a Go function does not see, and what it does."""

from __future__ import annotations

import pytest

from podrace.analysis.upstream.go_functions import functions_of
from podrace.analysis.upstream.normal_form import normal_form

HEAD = """\
package x

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	v1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"example.com/one/list"
	other "example.com/two/list"
)

"""


def form(function: str) -> tuple[str, ...]:
    (found,) = functions_of(HEAD + function).values()
    return normal_form(found)


CANNOT_MATTER = {
    "the receiver and its type": ("func (ev *Evaluator) f() { ev.g() }", "func (e *Executor) f() { e.g() }"),
    "the name of the function": ("func f(n int) int { return n }", "func g(n int) int { return n }"),
    "parameters": (
        "func f(pod *v1.Pod) bool { return pod.Gone }",
        "func f(p *v1.Pod) bool { return p.Gone }",
    ),
    "results": ("func f() (err error) { return err }", "func f() (e error) { return e }"),
    "variables": (
        "func f() { for i, x := range all() { var a, b = i, x; use(a, b) } }",
        "func f() { for k, y := range all() { var c, d = k, y; use(c, d) } }",
    ),
    "parameters of functions within": (
        "func f() { do(func(a int) { use(a) }) }",
        "func f() { do(func(b int) { use(b) }) }",
    ),
    "packages that types of the scheduler moved among": (
        "func f(s *framework.Status) bool { return s.Code() == framework.Error }",
        "func f(s *fwk.Status) bool { return s.Code() == fwk.Error }",
    ),
    "the empty interface": ("func f(obj interface{}) { g(obj) }", "func f(obj any) { g(obj) }"),
    "a context that is handed on": (
        "func f(n int) { g(n) }",
        "func f(ctx context.Context, n int) { g(ctx, n) }",
    ),
    "a logger that is handed on": (
        'func f(logger klog.Logger, n int) { logger.Info("now"); g(logger, n) }',
        "func f(ctx context.Context, n int) { logger := klog.FromContext(ctx); g(logger, n) }",
    ),
    "options that only hand a logger on": (
        "func f() { defer utilruntime.HandleCrashWithLogger(c.logger); i.AddEventHandlerWithOptions(h, cache.HandlerOptions{Logger: &c.logger}); g(T{Logger: &logger, Name: n}) }",
        "func f() { defer utilruntime.HandleCrash(); i.AddEventHandler(h); g(T{Name: n}) }",
    ),
    "packages of API types": (
        "func f(p *v1.Pod) bool { return p.Phase == v1.PodRunning }",
        "func f(p *fwk.Pod) bool { return p.Phase == fwk.PodRunning }",
    ),
    "what is logged": (
        'func f(pod *v1.Pod) { klog.V(4).InfoS("Trying", "pod", klog.KObj(pod)); g() }',
        'func f(pod *v1.Pod) { g(); klog.ErrorS(nil, "Tried") }',
    ),
    "errors that are only logged": (
        "func f(err error) { utilruntime.HandleError(err) }",
        'func f(err error) { utilruntime.HandleErrorWithLogger(logger, err, "Oh") }',
    ),
    "blocks that only log": (
        "func f(n int) { if n > 2 { klog.Info(n) }; g() }",
        'func f(n int) { if loggerV := logger.V(6); loggerV.Enabled() { loggerV.Info("x") }; g() }',
    ),
    "metrics and what they alone read": (
        "func f() { s := time.Now(); defer metrics.N.WithLabelValues(metrics.B).Dec(); g(); metrics.L.Observe(metrics.SinceInSeconds(s)) }",
        "func f() { defer func() { metrics.Latency.Observe(1.0) }(); g() }",
    ),
}


@pytest.mark.parametrize("what", CANNOT_MATTER)
def test_cannot_matter(what: str) -> None:
    old, new = CANNOT_MATTER[what]
    assert form(old) == form(new)


READ_THIS = {
    "which of two variables": ("func f(a, b int) int { return a }", "func f(a, b int) int { return b }"),
    "order": ("func f() { g(); h() }", "func f() { h(); g() }"),
    "a lock": ("func f() { l.Lock(); g(); l.Unlock() }", "func f() { g(); l.Lock(); l.Unlock() }"),
    "a field": ("func f(a T) int { return a.x }", "func f(a T) int { return a.y }"),
    "a field called like a variable": (
        "func f(x int) T { return T{x: x} }",
        "func f(y int) T { return T{y: y} }",
    ),
    "a function": ("func f() { g() }", "func f() { h() }"),
    "which plugin": (
        "func f() R { return R{nodename.Name: nodename.New, nodeports.Name: nodeports.New} }",
        "func f() R { return R{nodename.Name: nodeports.New, nodeports.Name: nodename.New} }",
    ),
    "packages of others": ("func f() { list.Add() }", "func f() { other.Add() }"),
    "a context that is another": (
        "func f(ctx context.Context) { g(ctx) }",
        "func f(ctx context.Context) { g(context.Background()) }",
    ),
    "a context that is replaced": (
        "func f(ctx context.Context) { g(ctx) }",
        "func f(ctx context.Context) { ctx, cancel := context.WithCancel(ctx); defer cancel(); g(ctx) }",
    ),
    "whose context, within a function within": (
        "func f(ctx context.Context) { do(func() { g(ctx) }) }",
        "func f(ctx context.Context) { do(func(ctx context.Context) { g(ctx) }) }",
    ),
    "a log line that does something": ("func f() { g() }", 'func f() { g(); klog.Info("was", queue.Pop()) }'),
    "a condition that does something": (
        "func f() { g() }",
        "func f() { if queue.Pop() { klog.Info(1) }; g() }",
    ),
    "a block that only logged on one side": (
        "func f(n int) { if n > 2 { klog.Info(n) } else { g() } }",
        "func f(n int) { g() }",
    ),
    "a return beside a log line": (
        "func f(n int) { if n > 2 { klog.Info(n) }; g() }",
        "func f(n int) { if n > 2 { klog.Info(n); return }; g() }",
    ),
    "a time that more than metrics read": (
        "func f() { start := time.Now(); g(start) }",
        "func f() { g(start) }",
    ),
    "a global that a variable of its name hides later": (
        "func f() { pod := pod(); g(pod) }",
        "func f() { node := node(); g(node) }",
    ),
    "the text of an error": (
        'func f() error { return fmt.Errorf("a") }',
        'func f() error { return fmt.Errorf("b") }',
    ),
    "a pointer receiver": ("func (q *Q) f() { q.n() }", "func (q Q) f() { q.n() }"),
}


@pytest.mark.parametrize("what", READ_THIS)
def test_read_this(what: str) -> None:
    old, new = READ_THIS[what]
    assert form(old) != form(new)
