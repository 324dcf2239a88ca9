"""Each argument and option of a command has a row, and each row is of one."""

from __future__ import annotations

import inspect

from podrace.cli.commands import all_commands
from podrace.cli.configuration.app import app
from podrace.cli.configuration.configured import name_of
from podrace.cli.configuration.option_rows import _rows


def test_rows_and_parameters_are_the_same() -> None:
    all_commands()
    own = {
        (name_of(c.name, c.callback), parameter)
        for c in app.registered_commands
        if c.callback is not None
        for parameter in inspect.signature(inspect.unwrap(c.callback), follow_wrapped=False).parameters
        if parameter not in ("context", "config")
    }
    rows = set(_rows())
    shared = {parameter for command, parameter in rows if not command}
    assert {row for row in rows if row[0]} <= own
    assert shared <= {parameter for _, parameter in own}
    assert {pair for pair in own - rows if pair[1] not in shared} == {
        ("lockstep", "kubernetes")
    }  # it names the versions
