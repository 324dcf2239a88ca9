"""The exception for what users get wrong; by itself, because whoever only catches it should not wait for imports."""

from __future__ import annotations

from ...checker.core.ending import Terminated as Terminated


class UsageProblem(Exception):
    """A wrong option or argument: one line that says what is wrong and what to do."""


class NotInRelease(UsageProblem):
    """The cluster has something that the model knows of later releases only."""
