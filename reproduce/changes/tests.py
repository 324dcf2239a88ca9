"""What a judgement found as Go tests, in a module that is built of the changed code: those of runs that it breaks fail there, those of races that it closes pass.

On the unchanged code it is the other way round: `go mod edit -dropreplace k8s.io/kubernetes` in the module.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...base.problems import UsageProblem
from ...reports.verify.code_change import Violation
from ..case import Case
from ..go_tests import go_tests
from ..go_tests.running import SOURCES, write_go_tests
from ..modules import held
from ..modules.toolchain import Go
from ..patches import replaced
from ..reproducing import Prepared
from .beyond import PENDING, STUCK, flushed_after
from .sources import Change, made_tree, unchanged

GO_MOD = "go.mod"

TESTED = "test"
"""The folder that the driver needs nothing of, but upstream's builders of objects, which the tests use."""

_ROAMED = """\
package podrace

import (
	"encoding/json"
	"testing"
)

// {sentence}
// A random run of the code violates it after {count} moves of its own.
func Test{name}(t *testing.T) {{
	c, moves := &Case{{}}, []RoamStep{{}}
	for text, into := range map[string]any{{{case}: c, {moves}: &moves}} {{
		if err := json.Unmarshal([]byte(text), into); err != nil {{
			t.Fatal(err)
		}}
	}}
	out := outcomeOf(t, c)
	if len(out.Roam) < len(moves) || !same(out.Roam[:len(moves)], moves) {{
		return
	}}
{check}}}
"""

_SEEN = """\
	t.Errorf("{property} is violated after move %d: %s", len(moves), text(moves[len(moves)-1]))
"""

_LATE = """\
	bound, _ := out.Epilogue["bound"].(map[string]any)
	for pod, seconds := range bound {{
		if after, ok := seconds.(float64); ok && after >= {seconds} {{
			t.Errorf("{property}: %s is bound only after %.0f s, by the periodic flush", pod, after)
		}}
	}}
"""

_RESTARTED = """\
	restarted, _ := out.Epilogue["restarted"].(map[string]any)
	for pod := range restarted {{
		t.Errorf("{property}: %s is scheduled only after a restart of the scheduler", pod)
	}}
"""


def roamed_test(case: Case, violation: Violation) -> str:
    """The test of a random run: it fails where the code goes that way, and violates the property."""
    form = {STUCK: _LATE, PENDING: _RESTARTED}.get(violation.property, _SEEN)
    moves = [{"move": one.move, "real": one.changes} for one in violation.moves]
    return _ROAMED.format(
        sentence=f"{violation.property}: {violation.words}",
        count=len(moves),
        name=violation.property.replace("-", ""),
        case=_quoted(msgspec.to_builtins(case)),
        moves=_quoted(moves),
        check=form.format(property=violation.property, seconds=flushed_after(violation.moves)),
    )


def _quoted(document: object) -> str:
    """JSON as a Go string: the escapes of JSON are those of Go."""
    return json.dumps(json.dumps(document))


def write_tests(
    folder: Path, change: Change, go: Go, races: Sequence[Prepared], roamed: Sequence[tuple[Case, Violation]]
) -> list[str]:
    """Write the module; gives the names of the tests' files. Raises UsageProblem if nothing was found that a test can say."""
    tests = {
        f"{violation.property.replace('-', '').lower()}_test.go": roamed_test(case, violation)
        for case, violation in roamed
    }
    if races:
        tests |= go_tests(races)
    if not tests:
        raise UsageProblem("--go-test: nothing was found that opens or closes: there is no test to write")
    write_go_tests(folder, change.version, go, tests)
    made_tree(
        change.tree or change.base,
        {} if change.tree is not None else {one.path: one.after for one in change.files},
        folder / SOURCES,
    )
    held.linked(unchanged(change.version, go) / TESTED, folder / SOURCES / TESTED)
    module = folder / GO_MOD
    module.write_text(replaced(module.read_text(encoding="utf-8")), encoding="utf-8")
    return sorted(tests)
