"""A patch gives the same system each time it is traced, or is refused: a verdict would be about one of many."""

from pathlib import Path

import pytest

from podrace.analysis.request.own_properties import own_properties
from podrace.analysis.request.patches import patches_of
from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.systems import system_of
from podrace.base.problems import UsageProblem

HEAD = """\
from itertools import count

from podrace.model.environment.objects import Pod
from podrace.model.language import Expr, as_expr
from podrace.model.scheduler import Nominator

CALLS = count(1)


class A(Nominator):
    def accepts(self, pod: Pod) -> Expr:
        n = next(CALLS)
"""


def traced(folder: Path, body: str) -> None:
    file = folder / "mine.py"
    file.write_text(f"{HEAD}        {body}\n")
    asked = Selection(
        ["wiped-nomination"], properties=["S-NOM"], release="1.34.0", patches=patches_of([str(file)])
    )
    (run,) = plan(asked)
    system_of(run)


def test_one_that_counts_its_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as problem:
        traced(tmp_path, "return as_expr(n & (n - 1) == 0)")
    assert str(problem.value) == (
        f"--patch: {tmp_path / 'mine.py'}: 1.34.0 + A is another system each time: a patch must not depend on chance, on time or on what ran before"
    )


def test_a_property_that_counts_its_calls_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from itertools import count\n\nfrom podrace.model.language import as_expr\n"
        "from podrace.properties import Property\n\nCALLS = count()\n\n\n"
        'class P(Property):\n    """It holds at every second call."""\n\n    id = "MY-P"\n\n'
        "    def holds(self):\n        return as_expr(next(CALLS) % 2 == 0)\n"
    )
    own = own_properties([str(file)])
    (run,) = plan(Selection(["wiped-nomination"], properties=["MY-P"], release="1.34.0", own=own))
    with pytest.raises(UsageProblem) as problem:
        system_of(run)
    assert str(problem.value) == (
        f"--properties: {file}: 1.34.0 is another system each time: MY-P must not depend on chance, on time or on what ran before"
    )


def test_one_whose_calls_do_not_matter_is_not(tmp_path: Path) -> None:
    traced(tmp_path, "return as_expr(n > 0)")
