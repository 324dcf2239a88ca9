"""The commands and their options. Every other floor is imported only by the command that needs it."""

from . import (
    check,
    completion,
    conform,
    explain,
    export,
    listings,
    regression,
    replay,
    schema,
    simulate,
    version,
)

__all__ = [
    "check",
    "completion",
    "conform",
    "explain",
    "export",
    "listings",
    "regression",
    "replay",
    "schema",
    "simulate",
    "version",
]
