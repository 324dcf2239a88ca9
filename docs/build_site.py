"""Builds the documentation as static pages, from docs/*.md and the pages at the root: `make site` writes build/site."""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

HERE = Path(__file__).parent
ROOT = HERE.parent
SOURCE = "README.md"

NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": ("README", "tutorial", "commands", "patches", "audit", "counterexamples", "trust", "limits"),
    "Files": ("scenarios", "manifests", "configuration", "reports", "pytest"),
    "Reference": (
        "properties",
        "races",
        "hazards",
        "survey",
        "model",
        "gates",
        "functions",
        "drift",
        "reproduce",
        "lockstep",
        "validation",
        "coverage",
    ),
    "Findings": (
        "findings/ghost",
        "findings/emptied-zone",
        "findings/assumed-after-look",
        "findings/stale-tombstone",
        "findings/queued-while-assumed",
        "findings/announced",
    ),
    "Searches": ("liveness", "simulate", "prove", "symbolic", "reductions", "engine", "cross-checks"),
    "The house": ("ARCHITECTURE", "CONTRIBUTING"),
}
"""The pages by section; every page of docs/ is among them, and those at the root."""

AT_ROOT = ("README", *NAVIGATION["The house"])

_SPACES = re.compile(r"\s")


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
    return written


def _file(name: str) -> str:
    return "index.html" if name == "README" else f"{name.lower().replace('/', '-')}.html"


def _source(name: str) -> str:
    return ((ROOT if name in AT_ROOT else HERE) / f"{name}.md").read_text(encoding="utf-8")


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
    title = titles[name] if name == "README" else f"{titles[name]} — podrace"
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="site.css">\n'
        f"<nav>{''.join(sections)}</nav>\n<main>\n{to_html(_source(name))}</main>\n</html>\n"
    )


def to_html(text: str) -> str:
    """The text of a page as HTML; headings have the anchors that GitHub gives them, links lead to the pages here."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))
    seen: dict[str, int] = {}
    for token, inner in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and inner is not None:
            token.attrSet("id", _anchor(_words(inner), seen))
        for child in token.children or ():
            _relink(child)
    return str(parser.renderer.render(tokens, parser.options, {}))


def _words(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _anchor(heading: str, seen: dict[str, int]) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in "-_ ")
    anchor = _SPACES.sub("-", kept)
    number = seen[anchor] = seen.get(anchor, -1) + 1
    return f"{anchor}-{number}" if number else anchor


def _relink(token: Token) -> None:
    for attribute in ("href", "src"):
        value = token.attrGet(attribute)
        if isinstance(value, str) and "://" not in value:
            path, hash_, anchor = value.partition("#")
            path = path.removeprefix("docs/").removeprefix("../")
            if path.endswith(".md"):
                path = _file(path.removesuffix(".md"))
            token.attrSet(attribute, f"{path}{hash_}{anchor}")


if __name__ == "__main__":
    pages = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site")
    print(f"wrote {len(pages)} pages to {pages[0].parent}")
