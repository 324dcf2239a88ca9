"""Writes the generated parts of docs/findings/*.md: the list of them, the steps, the Go test, the patch. `make reference`."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from podrace.analysis.request.method import Method, budget_for
from podrace.reproduce.go_tests import file_of, go_tests, lines_of
from podrace.reproduce.patches import MADE_FOR, MENDED_BY, read_patch
from podrace.reproduce.reproducing import Prepared, prepare
from podrace.reproduce.request import Wanted, questions

FINDINGS = Path(__file__).parent / "findings"


def names() -> list[str]:
    """The findings whose page has generated parts: a counterexample of the model, not only a test of a plugin."""
    pages = FINDINGS.glob("*.md")
    return sorted(page.stem for page in pages if "<!-- steps -->" in page.read_text(encoding="utf-8"))


def prepared(name: str) -> Prepared:
    """The counterexample of a finding, as the search finds it in the version that the patches are made for."""
    (one,) = prepare(questions(Wanted(name, MADE_FOR), budget_for(), Method()))
    return one


def page(name: str, one: Prepared) -> str:
    """The page of a finding with its generated parts made anew."""
    text = (FINDINGS / f"{name}.md").read_text(encoding="utf-8")
    test = go_tests([one])[file_of(name)]
    parts = {
        "steps": "\n".join(_steps(one)),
        "test": f"```go\n{test}```",
        "patch": "\n\n".join(f"```diff\n{read_patch(patch).diff}```" for patch in MENDED_BY[name]),
    }
    for part, made in parts.items():
        text = _put(text, part, made)
    return text


def _put(text: str, part: str, made: str) -> str:
    block = re.compile(rf"(<!-- {part} -->\n).*?(<!-- /{part} -->)", re.DOTALL)
    if len(block.findall(text)) != 1:
        raise ValueError(f"a page has no place for {part}")
    return block.sub(lambda match: f"{match[1]}\n{made}\n\n{match[2]}", text)


def _steps(one: Prepared) -> Iterator[str]:
    """What the goroutines do, an item for each stretch that one takes without a break."""
    assert one.found is not None
    assert one.case is not None
    steps = one.found.steps
    lines = [line for line in lines_of(steps, one.case) if line.numbers]
    stretches = groupby(lines, key=lambda line: steps[line.numbers[0] - 1].actor)
    names = {value for step in steps for value in step.args.values() if isinstance(value, str)}
    for number, (actor, stretch) in enumerate(stretches, 1):
        yield f"{number}. *{actor}*: {quoted(' '.join(line.said for line in stretch), names)}"


ARTICLE = r"(?=$|[.,:;']| (?:from|to|on|fits|is|and|has|back|was|waits|does|could|for|alone|no longer)\b)"
"""What follows a pod that is called a, and not the article."""


def quoted(text: str, names: Iterable[str]) -> str:
    """The text with the names of objects in backticks."""
    known = sorted((name for name in names if NAME.fullmatch(name)), key=len, reverse=True)
    words = "|".join(name + ARTICLE if name == "a" else name for name in known)
    return re.sub(rf"(?<![\w.(\'`-])(?:{words})(?:\.[a-z]\w*)?(?![\w-])", r"`\g<0>`", text)


NAME = re.compile(r"[a-z]|[a-z]+\d+|[a-z]+-again")
"""Names of the scenarios' objects, unlike words."""


def index() -> str:
    """The page that lists all findings, with its table made anew."""
    pages = sorted(path for path in FINDINGS.glob("*.md") if path.stem != "README")
    titles = {
        page.stem: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages
    }
    rows = [f"| [{name}]({name}.md) | {title} |" for name, title in titles.items()]
    text = (FINDINGS / "README.md").read_text(encoding="utf-8")
    return _put(text, "index", "\n".join(["| Page | What happens |", "|---|---|", *rows]))


def main() -> None:
    """Write all pages."""
    (FINDINGS / "README.md").write_text(index(), encoding="utf-8")
    for name in names():
        text = page(name, prepared(name))
        (FINDINGS / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
