"""docs/ask.md: the questions of the page, asked again; two of them in CI."""

import re
import shlex
from pathlib import Path

import pytest

from podrace.cli import main
from tests.cli.helpers import flat

PAGE = (Path(__file__).parents[2] / "docs" / "ask.md").read_text(encoding="utf-8")
ASKED = re.findall(r"^    podrace (ask .+|check \S+/\S+)\n    (.+)$", PAGE, re.MULTILINE)


def test_the_page_asks_ten_questions():
    assert len(ASKED) == 10
    assert len(set(re.findall(r"^\*\*(\d+)\*\*", PAGE, re.MULTILINE))) == 10


@pytest.mark.ci
@pytest.mark.parametrize(
    ("command", "answer"),
    [pytest.param(*one, marks=[] if i in (4, 6) else [pytest.mark.nightly]) for i, one in enumerate(ASKED)],
)
def test_the_answer_is_the_one_that_the_page_has(command, answer, capsys):
    main.run([*shlex.split(command), "--no-color"])
    out = flat(capsys.readouterr().out)
    assert out.endswith(f"{answer}.") if answer.islower() or " in " in answer else f": {answer} " in out
