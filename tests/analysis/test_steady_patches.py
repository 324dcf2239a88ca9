"""A patch gives the same system each time it is traced, or is refused: a verdict would be about one of many."""

from pathlib import Path

import pytest

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


def test_one_whose_calls_do_not_matter_is_not(tmp_path: Path) -> None:
    traced(tmp_path, "return as_expr(n > 0)")
