"""The forms of what came of runs on the real scheduler, by the name that `-o` knows. `text` is fitted to the terminal, and no part of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ..filtered import json_filtered
from ..html.reproduction_page import to_html
from ..reproduction import Reproduction


@json_filtered
def to_json(found: Sequence[Reproduction]) -> str:
    """As JSON, indented, with a newline at the end; the same reproductions give the same text."""
    return msgspec.json.format(msgspec.json.encode(list(found)), indent=2).decode() + "\n"


FORMS: Mapping[str, Callable[[Sequence[Reproduction]], str]] = {"json": to_json, "html": to_html}
"""Every form but `text`."""
