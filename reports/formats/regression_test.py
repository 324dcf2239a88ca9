"""A stored trace as a pytest module: the run must still violate the property, and be gone with the fixes.

"Gone" is said of this very run: that no other run violates the property is what `podrace check` shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ..filtered import on_one_line, text_filtered, without_commands
from ..stored import StoredTrace

_MODULE = '''\
"""{scenario}, {label}: a run that violates {property}."""

from podrace.analysis.stored.replayed import Replayed, replayed
from podrace.reports.document import Fixes
from podrace.reports.stored import {names}

SCENARIO = {text}

STEPS = (
{steps}
)


def again(*fixes: str) -> Replayed:
    """The run, executed again, with further upstream changes put in."""
    return replayed(
        StoredTrace(
            scenario=StoredScenario(
                {about}, SCENARIO, fair_flush={fair_flush}
            ),
            release={release},
            fixes=Fixes(added=({added}*fixes,), removed={removed}{gates}),
            property={asked},
            steps=STEPS,{lasso}
        )
    )


def test_the_run_violates_{identifier}() -> None:
    found = again()
    assert found.violated, found.why_not
'''

_GONE = """

def test_the_run_is_gone_with_{identifier}() -> None:
    assert not again({fixes}).violated
"""


@text_filtered
def regression_test(trace: StoredTrace, fixes: Sequence[str]) -> str:
    """The text of the module. Without `fixes`, it only asserts that the run violates the property."""
    set_gates = {} if trace.fixes.gates is msgspec.UNSET else trace.fixes.gates
    steps = (f"    StoredStep({_literal(step.step)}, {_literal(step.args)})," for step in trace.steps)
    lasso = trace.lasso
    module = _MODULE.format(
        scenario=_words(trace.scenario.name),
        label=_words(f"{trace.release}{trace.fixes.words}"),
        property=_words(trace.property),
        names=", ".join(["StoredLasso"] * bool(lasso) + ["StoredScenario", "StoredStep", "StoredTrace"]),
        text=_block(trace.scenario.text),
        steps="\n".join(steps),
        about=f"{_literal(trace.scenario.name)}, {_literal(trace.scenario.file)}",
        fair_flush=trace.scenario.fair_flush,
        release=_literal(trace.release),
        added="".join(f"{_literal(key)}, " for key in trace.fixes.added),
        removed=_removed(trace, fixes),
        gates=f", gates={_literal(set_gates)}" if set_gates else "",
        asked=_literal(trace.property),
        lasso=f"\n            lasso=StoredLasso({_literal(lasso.case)}, {lasso.turn})," if lasso else "",
        identifier=_name(trace.property),
    )
    if not fixes:
        return module
    gone = _GONE.format(
        identifier="_and_".join(map(_name, fixes)), fixes=", ".join(_literal(key) for key in fixes)
    )
    return module + gone


def _removed(trace: StoredTrace, fixes: Sequence[str]) -> str:
    """What is taken out, less what the test puts in."""
    out = _literal(trace.fixes.removed)
    return (
        f"tuple(key for key in {out} if key not in fixes)" if set(trace.fixes.removed) & set(fixes) else out
    )


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def _words(text: str) -> str:
    """Words inside a docstring."""
    return without_commands(on_one_line(text)).replace("\\", "/").replace('"', "'")


def _block(text: str) -> str:
    """A text as a literal of several lines where Python can write it so."""
    printable = text.replace("\n", "").isprintable() and "\\" not in text and '"""' not in text
    printable = printable and without_commands(text) == text
    return f'"""\\\n{text}"""' if printable and text.endswith("\n") else _literal(text)


def _literal(value: object) -> str:
    """A value in Python, texts in double quotes where they need no escapes."""
    if isinstance(value, str):
        simple = value.isprintable() and '"' not in value and "\\" not in value and "##" not in value
        return f'"{value}"' if simple else repr(value).replace("##", r"#\x23")
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(name)}: {_literal(inner)}' for name, inner in value.items())}}}"
    if isinstance(value, tuple):
        inside = ", ".join(map(_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)
