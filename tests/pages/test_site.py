"""The documentation: generated pages are current, the site's links lead somewhere, the tutorial's commands end as printed."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from podrace.properties import PROPERTIES
from podrace.properties.titles import TITLES
from podrace.scenarios import catalogue
from tests.pages.tutorial import commands, missing, outputs, run_tutorial
from tests.reports.webdriver import Browser, browsing

DOCS = Path(__file__).parents[2] / "docs"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE, SITE = load("build_reference"), load("build_site")


@pytest.mark.parametrize("name", REFERENCE.PAGES)
def test_the_reference_is_current(name: str) -> None:
    """`make reference` makes it so."""
    assert (DOCS / name).read_text(encoding="utf-8") == REFERENCE.PAGES[name]()


def test_the_reference_has_all_properties_and_races() -> None:
    for name, known in (
        ("notebook/properties.md", list(PROPERTIES)),
        ("notebook/races.md", [s.name for s in catalogue()]),
    ):
        assert re.findall("^## (.*)$", (DOCS / name).read_text(encoding="utf-8"), re.M) == known


class Page(HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: list[str] = []
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.append(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    written: list[Any] = SITE.build(tmp_path_factory.mktemp("site") / "built")
    return {path: Page(path) for path in written}


def test_every_page_of_the_documentation_is_in_the_navigation(pages: dict[Path, Page]) -> None:
    at_root = {path.stem.lower() for path in DOCS.parent.glob("*.md")} - {"readme"}
    below = {"-".join(path.relative_to(DOCS).with_suffix("").parts).lower() for path in DOCS.rglob("*.md")}
    assert {path.stem for path in pages} == {"index", "manual", *at_root, *below - {"readme"}}


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    dead = []
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            if re.match("https?://", link):
                continue
            file, _, anchor = link.partition("#")
            target = path.parent / file if file else path
            followed += 1
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.append(f"{path.name}: {link}")
    assert dead == []
    assert followed > 19 * len(pages)  # the navigation alone


def test_every_page_has_its_contents(pages: dict[Path, Page]) -> None:
    """The headings below the title, in their order, and nothing else."""
    shown = 0
    for path in pages:
        text = path.read_text(encoding="utf-8")
        body, _, aside = text.partition("</main>")
        headings = re.findall(r'<h[23] id="(.*?)"', body)
        links = re.findall(r'href="#(.*?)"', aside.partition("</aside>")[0])
        assert links == (headings if len(headings) > 1 else [])
        shown += bool(links)
    assert shown > 30


def test_the_search_knows_every_section(pages: dict[Path, Page]) -> None:
    index = next(iter(pages)).parent / "search-index.js"
    sections = json.loads(index.read_text(encoding="utf-8").removeprefix("const SECTIONS = ").rstrip(";\n"))
    by_file = {path.name: page for path, page in pages.items()}
    assert {section["link"].partition("#")[0] for section in sections} == set(by_file)
    for section in sections:
        file, _, anchor = section["link"].partition("#")
        assert not anchor or anchor in by_file[file].anchors
    found = [s["link"] for s in sections if " preemption" in s["words"] and s["heading"] == "S-NOM"]
    assert found == ["notebook-properties.html#s-nom"]


def test_pages_fetch_nothing(pages: dict[Path, Page]) -> None:
    """Style, scripts and pictures are files beside the page; nothing comes from another host."""
    for path in pages:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="(.*?)"', text)
        assert {"site.css", "search-index.js", "site.js"} <= set(loaded)
        assert [name for name in loaded if "//" in name] == []
    script = (DOCS / "site.js").read_text(encoding="utf-8")
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?:", script)


def test_the_example_is_a_real_report(pages: dict[Path, Page]) -> None:
    report = next(iter(pages)).parent / "example-report.html"
    text = report.read_text(encoding="utf-8")
    assert (
        "Violated after 15 steps, and no run is shorter (875 states, 1,738 transitions, depth 15 explored)."
        in text
    )
    assert "Side by side" in text
    assert all('href="example-report.html"' in path.read_text(encoding="utf-8") for path in pages)


def test_the_overview_has_every_property_with_its_kind() -> None:
    text = (DOCS / "notebook" / "properties-overview.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*? \| \[(.*?)\]\(properties.md#.*?\) \| (.*?) \| (.*?) \| (.*) \|$", text, re.M)
    assert [(name, kind, sentence) for name, kind, sentence, _ in rows] == [
        (name, PROPERTIES[name].kind, PROPERTIES[name].sentence()) for name in TITLES
    ]
    shown = {name: re.findall(r"\[(.*?)\]", scenarios) for name, _, _, scenarios in rows}
    assert shown == {
        name: [s.name for s in catalogue() if name in (*s.properties, *s.also)] for name in PROPERTIES
    }


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser")) as found:
        yield found


def test_the_search_finds_as_one_types(pages: dict[Path, Page], browser: Browser) -> None:
    browser.open(next(path for path in pages if path.name == "index.html"))
    ask = """
    const box = document.querySelector('#search');
    box.value = arguments[0];
    box.dispatchEvent(new Event('input'));
    return [...document.querySelectorAll('#found li')].map((item) => item.textContent);
    """
    assert browser.run(ask.replace("arguments[0]", '"s-nomvis"'))[0].endswith("S-NOMVIS")
    assert browser.run(ask.replace("arguments[0]", '"zzzz"')) == ["nothing found"]
    assert browser.run(ask.replace("arguments[0]", '""')) == []
    assert browser.log() == []


def test_what_the_tutorial_shows_is_missed_where_it_is_not_printed() -> None:
    assert missing(["one  two", "three"], "one\n two x three") is None
    assert missing(["three", "one"], "one three") == "one"
    assert missing(["four"], "one three") == "four"


def test_anchors_are_those_of_github() -> None:
    html = SITE.to_html(
        "# A `b` c\n\n## `expect`\n\n## A b c\n\n## R&D: x-y_z\n\n[x](a.md#b) [y](../README.md#c) [z](https://e.org/a.md)"
    )
    assert re.findall('id="(.*?)"', html) == ["a-b-c", "expect", "a-b-c-1", "rd-x-y_z"]
    assert re.findall('href="(.*?)"', html) == ["a.html#b", "index.html#c", "https://e.org/a.md"]


def test_html_of_a_page_is_shown_not_run() -> None:
    assert "<script>" not in SITE.to_html("a <script>alert(1)</script> b")


@pytest.mark.nightly
def test_the_tutorial_runs_as_printed(tmp_path: Path) -> None:
    assert len(commands()) == 11
    shown = outputs()
    assert len(shown) == 7
    for number, (command, wanted, code, text) in enumerate(
        run_tutorial(Path(sys.executable).parent, tmp_path)
    ):
        assert code == wanted, f"{command}\n{text}"
        assert missing(shown.get(number, []), text) is None, f"{command}\n{text}"
        if "--save-trace" in command:
            assert "Violated after 17 steps, and no run is shorter" in text
        if " verify " in command:
            assert "88,453" in text
            assert "S-NOM: fixed" in text
    assert (tmp_path / "report" / "junit.xml").is_file()
