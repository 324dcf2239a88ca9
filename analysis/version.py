"""`podrace version`: which podrace this is, and what it knows."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version


def print_version(form: str) -> None:
    """Print the version; in the form `json` with the releases, the changes, the properties and the formats."""
    installed = version("podrace")
    if form != "json":
        print(f"podrace {installed}")
        return
    from ..model.history import CHANGES, RELEASES
    from ..properties import PROPERTIES
    from ..reports.formats.forms import FORMS
    from ..reports.stored import VERSION

    known = {
        "podrace": installed,
        "python": platform.python_version(),
        "releases": list(RELEASES),
        "fixes": list(CHANGES),
        "properties": list(PROPERTIES),
        "forms": ["text", *FORMS],
        "trace_version": VERSION,
    }
    sys.stdout.write(json.dumps(known, indent=2) + "\n")
