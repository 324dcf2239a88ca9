"""All forms that a report for programs and for other readers can have, by the name that `-o` knows.

Each is imported when it is first asked for: a page in HTML needs what draws it, and JSON should not wait for that.
"""

from collections.abc import Callable, Mapping, Sequence

from ..ci_outcome import Style
from ..document import Finding
from ..filtered import to_json

Form = Callable[[Sequence[Finding], Style], str]


def _json(findings: Sequence[Finding], style: Style) -> str:
    return to_json(findings)


def _html(findings: Sequence[Finding], style: Style) -> str:
    from ..html import to_html

    return to_html(findings)


def _junit(findings: Sequence[Finding], style: Style) -> str:
    from .junit import to_junit

    return to_junit(findings, style)


def _sarif(findings: Sequence[Finding], style: Style) -> str:
    from .sarif import to_sarif

    return to_sarif(findings, style)


def _github(findings: Sequence[Finding], style: Style) -> str:
    from .github import to_annotations

    return to_annotations(findings, style)


def _markdown(findings: Sequence[Finding], style: Style) -> str:
    from .markdown import to_markdown

    return to_markdown(findings, style)


def _mermaid(findings: Sequence[Finding], style: Style) -> str:
    from .mermaid import to_mermaid

    return to_mermaid(findings, style)


FORMS: Mapping[str, Form] = {
    "json": _json,
    "html": _html,
    "junit": _junit,
    "sarif": _sarif,
    "github": _github,
    "markdown": _markdown,
    "mermaid": _mermaid,
}
"""Every form but `text`, which is fitted to the terminal."""
