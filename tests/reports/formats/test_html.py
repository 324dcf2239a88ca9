"""The page, as text. tests/cli/look/test_page.py opens it in a browser."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from podrace.reports.document import Finding, Fixes, ShownChange
from podrace.reports.html import to_html
from podrace.reports.html.elements import Markup, el, join
from tests.reports import samples
from tests.reports.shown import ASSUME, BIND, SHOWN, TAKE

VOID = {"meta", "link", "input", "rect", "line", "circle", "path"}


class Page(HTMLParser):
    """The tags and texts of a page; a tag that is not closed, or closed twice, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


@pytest.mark.parametrize("findings", [[SHOWN], samples.ALL, [], [SHOWN, *samples.ALL]], ids=len)
def test_well_formed_with_unique_identifiers(findings: list[Finding]) -> None:
    page = Page(to_html(findings))
    names = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(names) == len(set(names))
    links = [a["href"] or "" for tag, a in page.found if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= set(names)


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = Page(to_html([SHOWN, *samples.ALL]))
    for tag, attributes in page.found:
        assert "src" not in attributes
        if tag != "a":
            assert (attributes.get("href") or "data:").startswith("data:")
    policy = [a["content"] for tag, a in page.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy[0] is not None
    assert policy[0].startswith("default-src 'none';")


def test_the_same_findings_give_the_same_bytes() -> None:
    assert to_html([SHOWN, *samples.ALL]) == to_html([SHOWN, *samples.ALL])


def test_how_long_a_search_took_makes_no_difference() -> None:
    slower = [replace(f, seconds=(f.seconds or 0.0) + 77.7) for f in [SHOWN, *samples.ALL]]
    assert to_html(slower) == to_html([SHOWN, *samples.ALL])


def test_names_are_text_never_markup() -> None:
    nasty = '</script><img src=x onerror="1">'
    step = replace(BIND, actor=nasty, args={"pod": nasty}, changes=(ShownChange(nasty, nasty, nasty),))
    finding = replace(
        SHOWN, title=nasty, scenario=nasty, release=nasty, sentence=nasty, words=nasty, notes=(nasty,), property=nasty,
        trace=(step, TAKE, ASSUME), fixes=Fixes((nasty,)),
    )  # fmt: skip
    page = Page(to_html([finding]))
    assert "img" not in {tag for tag, _ in page.found}
    assert sum(tag == "script" for tag, _ in page.found) == 1
    assert nasty in page.text


def test_every_verdict_has_a_row_and_a_section() -> None:
    page = Page(to_html(samples.ALL))
    sections = [a["id"] for tag, a in page.found if tag == "section" and a.get("class") == "finding"]
    assert sections == [f"finding-{n}" for n in range(1, 8)]
    words = ("HOLDS", "HOLDS (vacuous)", "VIOLATED", "INCONCLUSIVE")
    assert [page.text.count(word) for word in words] == [3, 3, 4 + 4 + 2, 3]


def test_a_state_for_every_step_and_the_beginning() -> None:
    page = Page(to_html([SHOWN]))
    states = [a for tag, a in page.found if a.get("class") == "state"]
    assert [a["data-state"] for a in states] == ["0", "1", "2", "3"]
    assert all("hidden" not in a for a in states)  # so that all can be read without JavaScript
    (controls,) = [a for _, a in page.found if a.get("class") == "controls"]
    assert "hidden" in controls


def test_where_views_begin_to_differ_is_marked() -> None:
    page = Page(to_html([SHOWN]))
    ticks = [a["style"] for _, a in page.found if a.get("class") == "tick"]
    assert ticks == ["left: 33.3333%", "left: 100%"]
    rows = [a["class"] for _, a in page.found if "data-row" in a]
    assert rows == ["step decisive diverges", "step", "step decisive diverges"]


def test_before_and_after_a_fix_stand_side_by_side() -> None:
    page = Page(to_html([samples.VIOLATED, samples.HOLDS, samples.VACUOUS]))
    assert sum(a.get("class") == "card" for _, a in page.found) == 2
    assert sum(a.get("class") == "card" for _, a in Page(to_html([samples.VIOLATED])).found) == 0


def test_elements_escape_what_is_not_markup() -> None:
    assert el("p", "<b>", el("i", "&"), None, class_="a", data_x='"', hidden=False, open=True) == (
        '<p class="a" data-x="&quot;" open>&lt;b&gt;<i>&amp;</i></p>'
    )
    assert join("<", Markup("<br>")) == "&lt;<br>"
    assert el("rect", x=1) == '<rect x="1"/>'
