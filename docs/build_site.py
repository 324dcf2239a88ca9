"""Builds the documentation as static pages, from docs/*.md and the pages at the root: `make site` writes build/site."""

import json
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

HERE = Path(__file__).parent
ROOT = HERE.parent


def _pages(folder: str) -> tuple[str, ...]:
    """The pages of a folder below docs/, in the order in which its first page names them."""
    first = (HERE / folder / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"\]\(([a-z0-9-]+)\.md\)", first)
    there = sorted(page.stem for page in (HERE / folder).glob("*.md"))
    return tuple(f"{folder}/{name}" for name in dict.fromkeys(["README", *named, *there]))


NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": ("../README", "README", "tutorial", "glossary", "commands", "limits"),
    "I change the scheduler": (
        "patches",
        "verify-go",
        "kep",
        "drift",
        "reproduce",
        "counterexamples",
        "ask",
        "explore",
        "mcp",
    ),
    "I run schedulers": ("hazards", "manifests", "audit", "reports", "configuration", "pytest"),
    "How podrace knows": ("trust", "model", "lockstep", "tours", "prove", "liveness"),
    "Reference": ("scenarios", "claims", "volumes", "groups", "actors", "language"),
    "The house": ("../ARCHITECTURE", "../CONTRIBUTING", "../CHANGELOG", "../SECURITY"),
    "Findings": _pages("findings"),
    "Notebook": _pages("notebook"),
}
"""The pages by section, each by its path from docs/ without `.md`: every page there, and those at the root."""

EXAMPLE = "example-report.html"
"""A report as `podrace check -o html` makes it, of a race and of one before and after its fix."""

_FILES = {"../README": "index.html", "README": "manual.html"}
SCRIPTS = ("search-index.js", "site.js")
_SPACES = re.compile(r"\s")
_WORDS = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def build(target: Path) -> list[Path]:
    """Write all pages, and what they refer to, into an empty or new directory; gives the pages."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    titles = {name: _title(_source(name)) for names in NAVIGATION.values() for name in names}
    written = []
    for name in titles:
        page = target / _file(name)
        page.write_text(_page(name, titles), encoding="utf-8")
        written.append(page)
    for extra in (*HERE.glob("*.svg"), *HERE.glob("*.yaml"), *HERE.glob("schema/*.json")):
        copy = target / extra.relative_to(HERE)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(extra, copy)
    shutil.copy(HERE / "site.css", target / "site.css")
    shutil.copy(HERE / "site.js", target / "site.js")
    (target / "search-index.js").write_text(_index(titles), encoding="utf-8")
    (target / EXAMPLE).write_text(_example(), encoding="utf-8")
    return written


def _example() -> str:
    from podrace.api import check
    from podrace.reports.html import to_html

    findings = check("72124")
    for fixes in ((), ("77990",)):
        findings += check("wiped-nomination", with_fix=fixes)
    return to_html([replace(finding, seconds=None, notes=()) for finding in findings])


def _index(titles: dict[str, str]) -> str:
    """The sections of all pages with their words, each word once: a script, so that it works without a server."""
    sections = []
    for name, page in titles.items():
        for heading, link, text in _sections(name):
            words = dict.fromkeys(_WORDS.findall(text.lower()))
            sections.append({"page": page, "heading": heading, "link": link, "words": f" {' '.join(words)}"})
    written = json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
    return f"const SECTIONS = {written};\n"


def _sections(name: str) -> Iterator[tuple[str, str, str]]:
    """Heading, link and text of each section of a page."""
    tokens = _parsed(_source(name))
    heading, link, texts = "", _file(name), list[str]()
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and inner is not None:
            if heading:
                yield heading, link, " ".join(texts)
            heading, texts = _words(inner), []
            link = _file(name) if token.tag == "h1" else f"{_file(name)}#{token.attrGet('id')}"
        elif token.content:
            texts.append(token.content)
    yield heading, link, " ".join(texts)


def _file(name: str) -> str:
    return _FILES.get(name, f"{name.removeprefix('../').lower().replace('/', '-')}.html")


def _source(name: str) -> str:
    return (HERE / f"{name}.md").read_text(encoding="utf-8")


def _title(text: str) -> str:
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


def _page(name: str, titles: dict[str, str]) -> str:
    sections = []
    for section, names in NAVIGATION.items():
        links = "".join(
            f'<li><a href="{_file(n)}"{" aria-current=page" if n == name else ""}>{escape(titles[n])}</a></li>'
            for n in names
        )
        sections.append(f"<h2>{section}</h2><ul>{links}</ul>")
    sections.append(f'<h2>Example</h2><ul><li><a href="{EXAMPLE}">A report</a></li></ul>')
    scripts = "".join(f'<script src="{script}"></script>\n' for script in SCRIPTS)
    title = titles[name] if name == "../README" else f"{titles[name]} — podrace"
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="site.css">\n'
        f"<nav>{_SEARCH}{''.join(sections)}</nav>\n<main>\n{to_html(_source(name), name)}</main>\n{_contents(name)}\n"
        f"{scripts}</html>\n"
    )


_SEARCH = (
    '<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" hidden>'
    '<ul id="found" aria-live="polite"></ul>'
)


def _contents(name: str) -> str:
    """The headings of a page below its title, as links; nothing where there are fewer than two."""
    tokens = _parsed(_source(name))
    links = [
        f'<li class="{token.tag}"><a href="#{token.attrGet("id")}">{escape(_words(inner))}</a></li>'
        for token, inner in pairwise(tokens)
        if token.type == "heading_open" and token.tag in ("h2", "h3")
    ]
    if len(links) < 2:
        return "<aside></aside>"
    return f'<aside aria-label="On this page"><h2>On this page</h2><ul>{"".join(links)}</ul></aside>'


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def to_html(text: str, name: str = "") -> str:
    """The text of a page as HTML; headings have the anchors that GitHub gives them, links lead to the pages here."""
    parser = _parser()
    return str(parser.renderer.render(_parsed(text, name), parser.options, {}))


def _parsed(text: str, name: str = "") -> list[Token]:
    tokens = _parser().parse(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))
    seen: dict[str, int] = {}
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and inner is not None:
            token.attrSet("id", _anchor(_words(inner), seen))
        for child in token.children or ():
            _relink(child, posixpath.dirname(name))
    return tokens


def _words(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _anchor(heading: str, seen: dict[str, int]) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in "-_ ")
    anchor = _SPACES.sub("-", kept)
    number = seen[anchor] = seen.get(anchor, -1) + 1
    return f"{anchor}-{number}" if number else anchor


def _relink(token: Token, folder: str) -> None:
    for attribute in ("href", "src"):
        value = token.attrGet(attribute)
        if isinstance(value, str) and "://" not in value:
            path, hash_, anchor = value.partition("#")
            if path:
                path = posixpath.normpath(posixpath.join(folder, path)).removeprefix("../docs/")
            if path.endswith(".md"):
                path = _file(path.removesuffix(".md"))
            token.attrSet(attribute, f"{path}{hash_}{anchor}")


if __name__ == "__main__":
    pages = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site")
    print(f"wrote {len(pages)} pages to {pages[0].parent}")
