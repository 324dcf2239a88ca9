"""The forms of what came of runs on the real scheduler, by the name that `-o` knows. `text` is fitted to the terminal, and no part of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..filtered import to_json
from ..html.reproduction_page import to_html
from ..reproduction import Reproduction

FORMS: Mapping[str, Callable[[Sequence[Reproduction]], str]] = {"json": to_json, "html": to_html}
"""Every form but `text`."""
