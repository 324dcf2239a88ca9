"""Which changed lines need no run, on hostile diffs: those that only log, and those that return an error as the other side does."""

from __future__ import annotations

import pytest

from podrace.reproduce.changes.aside import is_told_only
from podrace.reproduce.changes.lines import changed_lines
from podrace.reproduce.changes.texts import FileChange

PATH = "pkg/scheduler/a.go"
BEFORE = """\
package scheduler

func (c *cacheImpl) forget(pod *v1.Pod) error {
	if err := c.remove(pod); err != nil {
		return err
	}
	c.tidy(pod)
	return nil
}

func (c *cacheImpl) other(pod *v1.Pod) error {
	c.look(pod)
	return nil
}
"""
PAIR = "\tif err := c.remove(pod); err != nil {\n\t\treturn err\n\t}\n"
ELSE = "\tif ok := c.is(pod); !ok {\n\t\tc.tidy(nil)\n\t} else if err := c.remove(pod); err != nil {\n\t\treturn err\n\t}\n"


def aside(*edits: tuple[str, str], before: str = BEFORE) -> list[str]:
    """The lines that need no run, without those that only log."""
    after = before
    for old, new in edits:
        assert old in after
        after = after.replace(old, new, 1)
    lines = changed_lines([FileChange(PATH, before, after)])
    return [line.shown.removeprefix(f"{PATH}:") for line in lines if line.aside]


def test_the_same_pair_in_other_words() -> None:
    """The condition changes, and with it the depth of what it guards; the call, and what is returned, do not."""
    deeper = "\tif ok {\n\t\tif err := c.remove(pod.New()); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n"
    assert aside((PAIR, deeper)) == ["5 (removed)", "6"]
    assert aside((PAIR, ELSE)) == [], "the line that returns is not changed"


def helper(
    inside: str, call: str = "if err := c.removeFrom(pod); err != nil {\n\t\t\treturn err\n\t\t}"
) -> str:
    changed = BEFORE.replace(PAIR, f"\tif pod != nil {{\n\t\t{call}\n\t}}\n")
    return f"{changed}\nfunc (c *cacheImpl) removeFrom(pod *v1.Pod) error {{\n{inside}\treturn nil\n}}\n"


@pytest.mark.parametrize(
    ("after", "aside_then"),
    [
        (helper(PAIR.replace("c.remove", "n.info.remove")), []),
        (helper(PAIR), ["5 (removed)", "6", "20"]),
        (helper(PAIR.replace("return err", "return nil")), []),
        (helper(PAIR.replace("c.remove", "c.erase")), []),
        (helper(PAIR.replace("err != nil", "err == nil")), []),
        (helper("\tc.tidy(pod)\n" + PAIR), []),
        (helper(PAIR + PAIR), ["5 (removed)", "6", "20"]),
        (helper(PAIR, "_ = c.removeFrom(pod)"), []),
        (helper(PAIR, "if err := c.removeFrom(pod); err != nil {\n\t\t\treturn nil\n\t\t}"), []),
        (helper(PAIR) + "\nfunc x() {\n\t_ = c.removeFrom(nil)\n}\n", []),
    ],
    ids=["of another thing", "the same", "swallowed in it", "another call", "negated", "work before it", "twice", "swallowed", "nil", "called twice"],
)  # fmt: skip
def test_a_function_between(after: str, aside_then: list[str]) -> None:
    """Of two calls in it the second one, in line 23, needs a run."""
    assert aside((BEFORE, after)) == aside_then


IN_PLACE = PAIR.replace("c.remove", "c.removeFrom")


@pytest.mark.parametrize(
    ("inside", "aside_then"),
    [
        (PAIR, ["18"]),
        (PAIR + PAIR, ["18"]),
        ("\tc.tidy(pod)\n" + PAIR, []),
        (PAIR.replace("c.remove", "c.erase"), []),
        (PAIR.replace("err != nil", "err == nil"), []),
        (PAIR.replace("return err", "return nil"), []),
    ],
    ids=["the same", "twice", "work before it", "another call", "negated", "swallowed"],
)
def test_a_function_between_whose_caller_keeps_its_return(inside: str, aside_then: list[str]) -> None:
    """Only the condition is changed at the place of the call; of two calls in the function the second one needs a run."""
    changed = BEFORE.replace(PAIR, IN_PLACE)
    new = f"\nfunc (c *cacheImpl) removeFrom(pod *v1.Pod) error {{\n{inside}\treturn nil\n}}\n"
    assert aside((BEFORE, changed + new)) == aside_then


@pytest.mark.parametrize(
    ("kept", "aside_then"),
    [
        ("\t\treturn nil\n", []),
        ("\t\tc.tidy(pod)\n\t\treturn err\n", []),
        ('\t\treturn fmt.Errorf("no room: %w", err)\n', ["18"]),
    ],
    ids=["swallowed", "work before it", "wrapped"],
)
def test_a_function_between_whose_caller_does_more(kept: str, aside_then: list[str]) -> None:
    """The caller's lines after the condition are unchanged: it wraps the error before and after, or does not return it at once."""
    before = BEFORE.replace("\t\treturn err\n", kept)
    changed = before.replace("c.remove(pod)", "c.removeFrom(pod)")
    new = f"\nfunc (c *cacheImpl) removeFrom(pod *v1.Pod) error {{\n{PAIR}\treturn nil\n}}\n"
    assert aside((before, changed + new), before=before) == aside_then


@pytest.mark.parametrize(
    "new",
    [
        "\tif ok {\n\t\tif err := c.remove(pod); err == nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); err != nil && !ok {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); ok || err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn nil\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn true, err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn framework.AsStatus(err)\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\tc.tidy(pod)\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.erase(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tif err := c.remove(pod).Then(); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\terr := c.remove(pod)\n\t\terr = nil\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\terr := c.remove(pod)\n\t\tif other, err := c.remove(pod), err; err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tif ok {\n\t\tc.tidy(pod)\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n",
        "\tgo func() error {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t\treturn nil\n\t}()\n",
    ],
    ids=["negated", "and", "or", "swallowed", "two", "status", "more is done", "another call", "chained", "set to nil", "shadowed", "work before it", "goroutine"],
)  # fmt: skip
def test_no_such_pair(new: str) -> None:
    assert aside((PAIR, new)) == []


def test_a_pair_elsewhere_does_not_count() -> None:
    """One function swallows the error now, and another returns one: neither does as before."""
    swallowed = "\t_ = c.remove(pod)\n"
    elsewhere = "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n"
    assert aside((PAIR, swallowed), ("\tc.look(pod)\n", elsewhere)) == []


def test_a_pair_that_comes_later_does_not_count() -> None:
    """After an error nothing was tidied up before, and now it is."""
    tidy = "\tc.tidy(pod)\n"
    moved = (
        "\tc.tidy(pod)\n\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n"
    )
    assert aside((PAIR + tidy, moved)) == []


def test_of_two_pairs_one_is_left() -> None:
    """Of two calls of one name the second one's error is swallowed."""
    two = BEFORE.replace(PAIR, PAIR + PAIR)
    deeper = "\tif ok {\n\t\tif err := c.remove(pod); err != nil {\n\t\t\treturn err\n\t\t}\n\t\t_ = c.remove(pod)\n\t}\n"
    assert aside((PAIR + PAIR, deeper), before=two) == ["5 (removed)", "6"], "8 needs a run"


@pytest.mark.parametrize(
    "line",
    [
        'logger.V(5).Info("Forgot (a pod)", "pod", klog.KObj(pod))',
        'klog.FromContext(ctx).Error(err, "no")',
        "metrics.PodScheduled(fwk.ProfileName(), metrics.SinceInSeconds(start))",
        "metrics.CacheSize.WithLabelValues(string(call.CallType())).Inc()",
        'utilruntime.HandleErrorWithLogger(logger, nil, "no pod", "obj", obj)',
        'logger.V(2).Info("more lines follow",',
    ],
)
def test_what_only_logs(line: str) -> None:
    assert is_told_only(f"\t\t{line}")


@pytest.mark.parametrize(
    "line",
    [
        "klog.FlushAndExit(klog.ExitFlushTimeout, 1)",
        'klog.Fatalf("no")',
        'logger.V(5).Info("popped", "pod", klog.KObj(queue.pop()))',
        'logger.Info("added", "n", cache.Add(pod))',
        "logger = other.WithValues()",
        "metrics.Enabled = cache.drop(pod)",
        "metrics.CacheSize.Set(cache.drop(pod))",
        "p.InformerFactory.Start(stop)",
        "status.Error = err",
        "n.Info.Remove(pod)",
        "metrics.Register()",
        'logger.Info("ran", "f", func() int { return cache.drop(pod) }())',
    ],
)
def test_what_does_more_than_log(line: str) -> None:
    assert not is_told_only(f"\t\t{line}")
