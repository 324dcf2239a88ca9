"""podrace driven as a user would drive it: files, releases, fixes, checks, traces, in any order.

Whatever the order: equal questions have equal answers, from any engine and from kept verdicts; a stored trace is read
back, replays, and is explained as what was found; what is wrong is said in one line.
"""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from podrace import api
from podrace.analysis.chain import FROM_CACHE
from podrace.analysis.request.release_names import NEWEST
from podrace.analysis.stored.replayed import read_trace, replayed
from podrace.cli import main
from podrace.model.history import CHANGES, RELEASES, resolve
from podrace.properties import PROPERTIES
from podrace.reports.document import Finding
from podrace.reports.stored import format_trace, parse_trace
from tests.profiles import by_profile
from tests.random_clusters import cluster_texts

STATES = 2_000
CODES = {"HOLDS": 0, "VIOLATED": 1, "INCONCLUSIVE": 3}

Question = tuple[str, str | None, frozenset[str], frozenset[str], str]


def command(*arguments: str) -> tuple[int, str, str]:
    """The exit code of a command line, and what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main.run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def essence(found: Finding) -> dict[str, Any]:
    """What is the same for equal questions."""
    told: dict[str, Any] = msgspec.to_builtins(
        msgspec.structs.replace(found, seconds=None, engine="", notes=())
    )
    return told


class User(RuleBasedStateMachine):
    """One working directory, and what was asked and answered in it."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.file, self.trace = self.folder / "scenario.yaml", self.folder / "trace.json"
        self.release: str | None = None
        self.added: set[str] = set()
        self.removed: set[str] = set()
        self.property = "S-UNIQ"
        self.answers: dict[Question, dict[str, Any]] = {}
        self.latest: Finding | None = None

    def teardown(self) -> None:
        self._folder.cleanup()

    @property
    def question(self) -> Question:
        text = self.file.read_text()
        return text, self.release, frozenset(self.added), frozenset(self.removed), self.property

    @property
    def options(self) -> dict[str, Any]:
        return {
            "release": self.release,
            "with_fix": sorted(self.added),
            "without_fix": sorted(self.removed),
            "property": self.property,
            "max_states": STATES,
            "jobs": 1,
        }

    @property
    def line(self) -> list[str]:
        words = ["check", str(self.file), "--property", self.property, "--max-states", str(STATES), "-j", "1"]
        words += ["--release", self.release] if self.release else []
        words += [word for key in sorted(self.added) for word in ("--with-fix", key)]
        return words + [word for key in sorted(self.removed) for word in ("--without-fix", key)]

    def check(self, **options: Any) -> Finding:
        """The one answer, which must be the one that was given before."""
        (found,) = api.check(self.file, **{**self.options, **options})
        assert self.answers.setdefault(self.question, essence(found)) == essence(found)
        return found

    @initialize(text=cluster_texts())
    def begin(self, text: str) -> None:
        self.file.write_text(text)

    @rule(text=cluster_texts())
    def write_another_scenario(self, text: str) -> None:
        self.file.write_text(text)
        self.latest = None

    @rule(release=st.sampled_from([None, *RELEASES]))
    def choose_a_release(self, release: str | None) -> None:
        self.release, self.added, self.removed, self.latest = release, set(), set(), None

    @rule(data=st.data(), put_in=st.booleans())
    def change_a_fix(self, data: st.DataObject, put_in: bool) -> None:
        """Put a fix in that is missing, or take one out; a second time it is as before."""
        release = self.release or NEWEST
        fixes = self.added if put_in else self.removed
        keys = [key for key, change in CHANGES.items() if change.is_in(release) is not put_in]
        if keys:
            fixes ^= {data.draw(st.sampled_from(keys))}
            self.latest = None

    @rule(identifier=st.sampled_from(sorted(PROPERTIES)))
    def choose_a_property(self, identifier: str) -> None:
        self.property, self.latest = identifier, None

    @rule()
    def ask(self) -> None:
        found = self.latest = self.check()
        assert found.property == self.property
        assert found.label == resolve(self.release or NEWEST, sorted(self.added), sorted(self.removed)).label
        assert (found.trace is not None) == (found.verdict == "VIOLATED")
        assert found.states <= STATES
        assert found.property in api.text_of([found])

    @rule()
    def ask_the_interpreter(self) -> None:
        self.latest = self.check(engine="reference")

    @rule()
    def ask_with_kept_verdicts(self) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PODRACE_NO_CACHE", raising=False)
            first, second = (self.check(cache=self.folder / "kept") for _ in range(2))
        # Only what is decided is kept.
        assert (FROM_CACHE in second.notes) == (first.verdict != "INCONCLUSIVE")
        self.latest = second

    @precondition(lambda self: self.latest is not None)
    @rule(verdict=st.sampled_from(["holds", "violated"]))
    def expect(self, verdict: Any) -> None:
        assert self.latest is not None
        if verdict.upper() == self.latest.verdict:
            (found,) = api.expect(verdict, self.file, **self.options)
            assert found.as_expected
        else:
            with pytest.raises(api.NotAsExpected) as problem:
                api.expect(verdict, self.file, **self.options)
            assert [f.verdict for f in problem.value.findings] == [self.latest.verdict]

    @precondition(lambda self: self.latest is not None)
    @rule()
    def use_the_command(self) -> None:
        assert self.latest is not None
        code, out, _ = command(*self.line, "-o", "json")
        assert code == CODES[self.latest.verdict]
        (told,) = json.loads(out)
        assert {**told, "seconds": None, "engine": "", "notes": []} == json.loads(
            msgspec.json.encode(self.answers[self.question])
        )

    @precondition(lambda self: self.latest is not None and self.latest.trace is not None)
    @rule()
    def store_the_trace(self) -> None:
        assert self.latest is not None
        assert command(*self.line, "--save-trace", str(self.trace))[0] == 1
        stored = read_trace(self.trace)
        assert parse_trace(format_trace(stored).encode(), "again") == stored
        assert len(stored.steps) == len(self.latest.trace or ()) + len(
            self.latest.cycle if self.latest.lasso else ()
        )
        again = replayed(stored)
        assert (again.violated, again.changed) == (True, False)

    @precondition(lambda self: self.trace.exists())
    @rule()
    def replay_the_trace(self) -> None:
        """Whatever was asked since, the trace is still one."""
        code, out, _ = command("replay", str(self.trace))
        assert code == 0
        assert "Nothing else was looked at." in " ".join(out.split())
        code, out, _ = command("explain", str(self.trace), "-o", "json")
        assert code == 0
        (told,) = json.loads(out)
        stored = read_trace(self.trace)
        shown = [*told["trace"], *(told["cycle"] if told["lasso"] else ())]
        assert [(f"{s['component']}.{s['step']}", s["args"]) for s in shown] == [
            (s.step, s.args) for s in stored.steps
        ]

    @rule(
        wrong=st.sampled_from(
            [
                {"release": "1.99"}, {"release": "x"}, {"with_fix": "nothing"}, {"without_fix": ["1"]},
                {"property": "S-NOTHING"}, {"with_fix": "125578", "without_fix": "125578"}, {"file": "absent.yaml"},
                {"cache": "scenario.yaml"}, {"text": "nodes: [}"}, {"text": ""}, {"text": "pods: {p: {cpu: 1..}}"},
            ]
        )
    )  # fmt: skip
    def make_a_mistake(self, wrong: dict[str, Any]) -> None:
        """It is refused in one line, and changes nothing."""
        file = self.folder / wrong.get("file", "scenario.yaml")
        if "text" in wrong:
            file = self.folder / "mistake.yaml"
            file.write_text(wrong["text"])
        asked = {name: value for name, value in wrong.items() if name not in ("file", "text")}
        if "cache" in asked:
            asked["cache"] = file
        with pytest.raises(api.Problem) as problem:
            api.check(file, **{**self.options, **asked})
        assert str(problem.value).isprintable()
        assert len(str(problem.value)) > 10

    @invariant()
    def answers_are_verdicts(self) -> None:
        assert {answer["verdict"] for answer in self.answers.values()} <= CODES.keys()


def sized(examples: int, steps: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )


def test_a_user() -> None:
    run_state_machine_as_test(User, settings=sized(by_profile(fast=1, full=3), 10))


@pytest.mark.campaign
def test_a_thousand_users() -> None:
    run_state_machine_as_test(User, settings=sized(1000, 30))
