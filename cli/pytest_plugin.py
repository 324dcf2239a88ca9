"""The plug-in for pytest: the fixture `podrace`, and the marker that says what a test is about (docs/pytest.md).

pytest loads it wherever podrace is installed, so nothing else of podrace is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..api import AuditReport, Finding

MARKER = "podrace"
KEYWORDS = ("release", "with_fix", "without_fix", "gate", "property", "steps", "max_states", "max_memory", "timeout", "jobs",
            "cache", "filename", "recursive", "strict", "pods", "nodes", "focus", "controllers")  # fmt: skip
"""What the marker and the calls take."""
OF_LOGS = ("initial", "complete", "clock_skew", "since", "until", "namespace", "property")
"""What `audit` takes."""
ENDINGS = (".yaml", ".yml")


class Podrace:
    """What the fixture gives: `audit` for logs of a cluster; `check` and `violates`, with what the marker says unless the call says otherwise."""

    def __init__(
        self,
        folder: Path,
        scenarios: tuple[str | Path, ...],
        options: Mapping[str, Any],
        varied: Collection[str],
    ) -> None:
        self._folder = folder
        self._scenarios = scenarios
        self._options = options
        self._varied = varied
        self.is_asked = False

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

    def audit(self, *logs: str | Path, excluded: bool = False, **options: Any) -> AuditReport:
        """No scheduling invariant is broken in these audit logs, and with `excluded` none can be; else the test fails, and says how.

        The options are those of `podrace.api.audit`. Files are looked for beside the test first.
        """
        __tracebackhide__ = True
        from .. import api
        from ..reports.filtered import shown

        self.is_asked = True
        for name in options:
            if name not in OF_LOGS:
                pytest.fail(
                    f"podrace: podrace.audit has no `{name}`; known: excluded, {', '.join(OF_LOGS)}",
                    pytrace=False,
                )
        if "initial" in options:
            options["initial"] = self._there(options["initial"])
        try:
            return api.expect_kept(*map(self._there, logs), excluded=excluded, **options)
        except api.Problem as problem:
            told = shown(f"podrace: {problem}")
        pytest.fail(told, pytrace=False)  # outside, else pytest tells both

    def _there(self, name: Any) -> Any:
        """A file or directory is looked for beside the test first."""
        if not isinstance(name, (str, PathLike)):
            return name  # refused where it arrives
        path = self._folder / name
        return str(path) if path.exists() else str(name)

    def _expect(
        self, verdict: Any, scenarios: tuple[str | Path, ...], options: Mapping[str, Any]
    ) -> list[Finding]:
        __tracebackhide__ = True
        from .. import api
        from ..reports.filtered import shown

        self.is_asked = True
        _refuse_unusable(verdict, options)
        for name in self._varied:
            if name in options:
                pytest.fail(
                    f"podrace: the marker gives several cases of `{name}`, and this call the same for each: leave it out here",
                    pytrace=False,
                )
        named = [self._beside(name) for name in scenarios or self._scenarios]
        chosen = {**self._options, **options}
        if "filename" in chosen:
            chosen["filename"] = [self._there(name) for name in _names(chosen["filename"])]
        try:
            return api.expect(verdict, *named, **chosen)
        except api.NotAsExpected as problem:
            wrong = [f for f in problem.findings if not f.as_expected]
            if all(finding.verdict == "IGNORED" for finding in wrong):
                pytest.skip(shown("; ".join(f"{finding.property}: {finding.words}" for finding in wrong)))
            raise
        except api.Problem as problem:
            told = shown(f"podrace: {problem}")
        pytest.fail(told, pytrace=False)

    def _beside(self, name: Any) -> Any:
        """A file is looked for beside the test first."""
        if not isinstance(name, (str, PathLike)):
            return name
        path = self._folder / name
        return str(path) if Path(name).suffix in ENDINGS and path.is_file() else str(name)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*scenarios, release=[...], with_fix=[(...), ...], **options): what `podrace.check()` checks; the test runs once "
        "for every release and every set of fixes",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for every release and every set of fixes that the marker names."""
    if MARKER not in metafunc.fixturenames:
        return
    options = _marked(metafunc.definition)[1]
    releases, fixes = options.get("release"), options.get("with_fix", ())
    if not _has_cases("release", releases) and not _has_cases("with_fix", fixes):
        return
    each: list[str | None] = list(releases or ()) if _has_cases("release", releases) else [releases]
    sets = [_names(names) for names in (fixes if _has_cases("with_fix", fixes) else [fixes])]
    cases = list(product(each, sets))
    metafunc.parametrize(MARKER, cases, indirect=True, ids=[_label(*case) for case in cases])


@pytest.fixture
def podrace(request: pytest.FixtureRequest) -> Podrace:
    """Checks the scheduler: see docs/pytest.md."""
    scenarios, chosen = _marked(request.node)
    varied = [name for name in ("release", "with_fix") if _has_cases(name, chosen.get(name))]
    case = getattr(request, "param", None)
    if case is not None:
        chosen["release"], chosen["with_fix"] = case
    return Podrace(request.path.parent, scenarios, chosen, varied)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """A marked test that checks nothing does not pass."""
    result = yield
    given = pyfuncitem.funcargs.get(MARKER)
    is_marked = (
        pyfuncitem.get_closest_marker(MARKER)
        if isinstance(given, Podrace)
        else any(mark.name == MARKER for mark in pyfuncitem.own_markers)
    )
    if is_marked and not (isinstance(given, Podrace) and given.is_asked):
        pytest.fail(
            "podrace: the marker alone checks nothing: take the fixture `podrace`, and call podrace.check() or podrace.violates()",
            pytrace=False,
        )
    return result


def _marked(node: pytest.Item | Any) -> tuple[tuple[str | Path, ...], dict[str, Any]]:
    """What the markers say, the nearest first. What has cases is a list of them."""
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


def _has_cases(name: str, value: Any) -> bool:
    """Whether a marker gives several values: a list of releases, or one of fixes in which some element is a set of names.

    A list of names alone is one set of fixes, as it is for a call. What is neither a name nor a list is refused where it arrives.
    """
    if not _is_several(value):
        return False
    return name == "release" or any(map(_is_several, value))


def _is_several(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _refuse_unusable(verdict: str, options: Mapping[str, Any]) -> None:
    """Refuse what a call does not take: the test fails with one line."""
    __tracebackhide__ = True
    call = f"podrace.{'check' if verdict == 'holds' else 'violates'}"
    for name, value in options.items():
        if name not in KEYWORDS:
            pytest.fail(f"podrace: {call} has no `{name}`; known: {', '.join(KEYWORDS)}", pytrace=False)
        if name in ("release", "with_fix") and _has_cases(name, value):
            pytest.fail(
                f"podrace: {call}: `{name}` with several cases is for the marker: give one", pytrace=False
            )


def _names(names: Any) -> tuple[Any, ...]:
    return tuple(names) if _is_several(names) else (names,)


def _label(release: Any, fixes: tuple[Any, ...]) -> str:
    return "+".join([str(release or "its-release"), *map(str, fixes)])
