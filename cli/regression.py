"""`podrace test-from`: a stored trace as a regression test."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..analysis.files import refuse_unwritable, write_text
from ..analysis.options import UsageProblem, parse_fix
from ..analysis.stored.replayed import read_trace, replayed
from ..model.history import CHANGES
from ..properties import PROPERTIES
from ..reports.document import Fixes
from ..reports.regression import regression_test
from ..reports.stored import StoredTrace, TraceProblem
from .console import message_console
from .replay import GONE

WRITTEN = 0


def write_test(path: Path, with_fixes: Sequence[str], output: Path | None) -> int:
    """Write the test to `output`, or to stdout; gives the exit code. Raises UsageProblem or TraceProblem.

    Nothing is written that would fail at once: the run is executed again first, with and without the fixes.
    """
    if output is not None:
        refuse_unwritable("--output", output)
    stored = read_trace(path)
    if stored.property not in PROPERTIES:
        raise TraceProblem(f"{path}: property: a test can be written only for one of `podrace properties`")
    found = replayed(stored, file=str(path))
    if not found.violated:
        message_console().print(f"podrace: {path}: {found.obstacle}", soft_wrap=True)
        return GONE
    fixes = tuple(parse_fix(name, list(CHANGES)) for name in with_fixes) or stored.fixed_by
    if fixes and replayed(fixed(stored, fixes), file=str(path)).violated:
        if with_fixes:
            raise UsageProblem(
                f"--with-fix: with {', '.join(fixes)} the run is still possible and still violates {stored.property}"
            )
        fixes = ()
    text = regression_test(stored, fixes)
    if output is None:
        sys.stdout.write(text)
    else:
        write_text("--output", output, text)
    return WRITTEN


def fixed(stored: StoredTrace, fixes: Sequence[str]) -> StoredTrace:
    """The same run with further changes put in."""
    added = tuple(dict.fromkeys([*stored.fixes.added, *fixes]))
    removed = tuple(key for key in stored.fixes.removed if key not in fixes)
    return msgspec.structs.replace(stored, fixes=Fixes(added, removed))
