"""Words that are not to be used in the README, the manual, the help of commands and messages, each with what to write instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from podrace.properties import PROPERTIES

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PRODUCT = (
    "base",
    "model",
    "checker",
    "properties",
    "patching",
    "reports",
    "scenarios",
    "manifests",
    "analysis",
    "audit",
    "reproduce",
    "api",
    "cli",
)
INSTEAD = {
    r"for ever\b": "indefinitely",
    r"anew\b": "again",
    r"whoever\b": "any pod that",
    r"whom\b": "a pod, a user: by name",
    r"(he|him|his|himself)\b": "it",
    r"told of\b": "notified of",
    r"hears? of\b": "is notified of",
    r"held (to|against)\b": "compared with",
    r"hold the model against\b": "compare the model with",
    r"beside\b": "next to, together with",
    r"what is left out\b": "limitations",
    r"kept out\b": "excluded",
    r"ha(s|ve) still to\b": "still has to",
    r"how manieth\b": "number of",
    r"is no duration\b": "not a duration: use",
    r"(asked|violated) is\b(?= [SL]-)": "Property:",
    r"by no shorter run\b": "this is a shortest counterexample",
    r"safety nets?\b": "regression checks",
    r"residuals?\b": "still open after the fix",
}
NAMES = ("beside", "residual", "for ever", "made anew")
"""Of fields of scenarios and reports; what traces of 0.1 say, which are still read."""

BANNED = re.compile(
    "|".join(rf"(?<![\w`'/-]){pattern.replace(' ', chr(92) + 's+')}(?![-'])" for pattern in INSTEAD),
    re.IGNORECASE,
)


def said(text: str) -> list[str]:
    """The words in a text that are not to be used, each with some of what is around it."""
    return [text[max(0, m.start() - 30) : m.end() + 20].replace("\n", " ") for m in BANNED.finditer(text)]


def prose(page: Path) -> str:
    """A page without its code: fenced and indented blocks, and what stands in backticks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", text)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a file that are no docstrings: help, messages, sentences."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    documents = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.lineno, node.value


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page: Path) -> None:
    assert said(prose(page)) == []


@pytest.mark.parametrize("folder", PRODUCT)
def test_messages(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in messages(path)
        if text not in NAMES
        for words in said(text)
    ]
    assert found == []


def test_sentences_of_properties() -> None:
    texts = [text for prop in PROPERTIES.values() for text in (prop.sentence(), *prop.explanation())]
    assert len(texts) > 100
    assert [words for text in texts for words in said(text)] == []


def test_the_glossary_is_short_and_linked() -> None:
    terms = re.findall(
        r"^\| ([a-z].*?) \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(terms) <= 25
    assert "(docs/glossary.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_manual_is_short() -> None:
    """With the README; the findings and the notebook apart."""
    manual = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert len(manual) <= 40
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in manual) <= 80_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It waits for ever.", ["for ever"]),
        ("It waits for\never.", ["for\never"]),
        ("for every pod, `beside`, parked-for-ever, count_anew, besides", []),
        ("Whoever it was, the handler hears of it", ["Whoever", "hears of"]),
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert [m[0] for m in BANNED.finditer(text)] == found
