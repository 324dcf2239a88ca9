"""All forms that a report for programs and for other readers can have, by the name that `-o` knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..ci_outcome import Style
from ..document import Finding
from ..html import to_html
from .github import to_annotations
from .itf import to_itf
from .json import to_json
from .junit import to_junit
from .markdown import to_markdown
from .mermaid import to_mermaid
from .sarif import to_sarif

Form = Callable[[Sequence[Finding], Style], str]

FORMS: Mapping[str, Form] = {
    "json": lambda findings, style: to_json(findings),
    "html": lambda findings, style: to_html(findings),
    "junit": to_junit,
    "sarif": to_sarif,
    "github": to_annotations,
    "markdown": to_markdown,
    "itf": to_itf,
    "mermaid": to_mermaid,
}
"""Every form but `text`, which is fitted to the terminal."""
