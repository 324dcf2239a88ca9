"""The plug-in for pytest: the fixture `podrace`, and the marker that says what a test is about (docs/pytest.md).

pytest loads it wherever podrace is installed, so nothing else of podrace is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..api import Finding

MARKER = "podrace"
KEYWORDS = ("releases", "fixes", "release", "with_fix", "without_fix", "gate", "property", "max_states", "max_memory",
            "timeout", "jobs", "cache")  # fmt: skip
ENDINGS = (".yaml", ".yml")


class Podrace:
    """What the fixture gives: `check` and `violates`, with what the marker says unless the call says otherwise."""

    def __init__(self, folder: Path, scenarios: tuple[str | Path, ...], options: Mapping[str, Any]) -> None:
        self._folder = folder
        self._scenarios = scenarios
        self._options = options

    def check(self, *scenarios: str | Path, **options: Any) -> list[Finding]:
        """Every property holds; else the test fails with the counterexample. The options are those of `podrace.api.expect`.

        What a scenario ignores makes the test skipped, with the reason.
        """
        __tracebackhide__ = True
        return self._expect("holds", scenarios, options)

    def violates(self, *scenarios: str | Path, **options: Any) -> list[Finding]:
        """Every property is violated, after so many `steps` if that is given; else the test fails."""
        __tracebackhide__ = True
        return self._expect("violated", scenarios, options)

    def _expect(
        self, verdict: Any, scenarios: tuple[str | Path, ...], options: Mapping[str, Any]
    ) -> list[Finding]:
        __tracebackhide__ = True
        from .. import api
        from ..reports.filtered import shown

        named = [self._beside(name) for name in scenarios or self._scenarios]
        try:
            return api.expect(verdict, *named, **{**self._options, **options})
        except api.NotAsExpected as problem:
            wrong = [f for f in problem.findings if not f.as_expected]
            if all(finding.verdict == "IGNORED" for finding in wrong):
                pytest.skip(shown("; ".join(f"{finding.property}: {finding.words}" for finding in wrong)))
            raise
        except (api.UsageProblem, api.ScenarioError) as problem:
            pytest.fail(shown(f"podrace: {problem}"), pytrace=False)

    def _beside(self, name: str | Path) -> str:
        """A file is looked for beside the test first."""
        path = self._folder / name
        return str(path) if Path(name).suffix in ENDINGS and path.is_file() else str(name)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*scenarios, releases=[...], fixes=[...], **options): what `podrace.check()` checks; the test runs once for "
        "every release and every set of fixes",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every release and every set of fixes that the marker names."""
    if MARKER not in metafunc.fixturenames:
        return
    options = _marked(metafunc.definition)[1]
    if "releases" not in options and "fixes" not in options:
        return
    releases = [*options.get("releases", [options.get("release")])]
    fixes = [_names(names) for names in options.get("fixes", [options.get("with_fix", ())])]
    cases = list(product(releases, fixes))
    metafunc.parametrize(MARKER, cases, indirect=True, ids=[_label(*case) for case in cases])


@pytest.fixture
def podrace(request: pytest.FixtureRequest) -> Podrace:
    """Checks the scheduler: see docs/pytest.md."""
    scenarios, options = _marked(request.node)
    chosen = {name: value for name, value in options.items() if name not in ("releases", "fixes")}
    case = getattr(request, "param", None)
    if case is not None:
        chosen["release"], chosen["with_fix"] = case
    return Podrace(request.path.parent, scenarios, chosen)


def _marked(node: pytest.Item | Any) -> tuple[tuple[str | Path, ...], dict[str, Any]]:
    """What the markers say, the nearest first."""
    scenarios: tuple[str | Path, ...] = ()
    options: dict[str, Any] = {}
    for mark in node.iter_markers(MARKER):
        for name in mark.kwargs:
            if name not in KEYWORDS:
                known = ", ".join(KEYWORDS)
                raise pytest.UsageError(
                    f"{node.nodeid}: pytest.mark.{MARKER} has no `{name}`; known: {known}"
                )
        scenarios = scenarios or mark.args
        options = {**mark.kwargs, **options}
    return scenarios, options


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _label(release: str | None, fixes: tuple[str, ...]) -> str:
    return "+".join([release or "its-release", *fixes])
