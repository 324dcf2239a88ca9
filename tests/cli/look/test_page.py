"""The report of real counterexamples in a real browser: what the page shows is what the states are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podrace.reports.html import to_html
from podrace.reports.text.explanation import explain
from tests.cli.races import Checked, nomination, pair
from tests.reports.long_names import LONG
from tests.reports.webdriver import Browser, browsing


@pytest.fixture(scope="module")
def race() -> Checked:
    """The seed race."""
    return nomination()


@pytest.fixture(scope="module")
def page(race: Checked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about the seed race, and about another before and after its fix."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    findings = [race.finding, *pair()]
    path.write_text(to_html(findings), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with browsing(tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def browser(session: Browser, page: Path) -> Iterator[Browser]:
    """The browser with the page opened anew; at the end, it has complained of nothing."""
    session.resize(1280, 900)
    session.prefer("light")
    session.open(page)
    yield session
    assert session.log() == []


SHOWN = """
const player = document.querySelector('#finding-1 .player');
const shown = [...player.querySelectorAll('.state')].filter((state) => state.checkVisibility());
const texts = (cell) => [...cell.querySelectorAll('.fact')].map((fact) => fact.firstChild.data);
return {
    states: shown.map((state) => Number(state.dataset.state)),
    position: player.querySelector('output').value,
    spoken: player.querySelector('input').getAttribute('aria-valuetext'),
    sentence: shown[0].querySelector('.now').textContent,
    current: [...document.querySelectorAll('#finding-1 .current')].map((row) => Number(row.dataset.row)),
    cells: Object.fromEntries([...shown[0].querySelectorAll('tbody tr')].map((row) => [
        row.querySelector('th span').textContent,
        Object.fromEntries([...row.querySelectorAll('td[data-column]')].map((cell) => [cell.dataset.column, texts(cell)])),
    ])),
    changed: shown[0].querySelectorAll('.fact.changed').length,
    drawn: [...shown[0].querySelectorAll('svg > title')].map((title) => title.textContent),
};
"""


def expected_on(state: dict[str, Any], view: str, pod: str) -> set[str]:
    """What a view says of where a pod is and is meant to be."""
    variables = {
        "API server": (f"api.pod[{pod}].node", f"api.pod[{pod}].nominated"),
        "lister": (f"pod_watch.lister[{pod}].node", f"pod_watch.lister[{pod}].nominated"),
        "nominator": (None, f"nominator.node[{pod}]"),
        "cache": (f"cache.pod[{pod}].node", None),
    }
    node, nominated = variables[view]
    found = set()
    if node is not None and state[node] is not None:
        found.add(f"on {state[node].name}")
    if nominated is not None and state[nominated] is not None:
        found.add(f"nominated to {state[nominated].name}")
    return found


def assert_shown(browser: Browser, race: Checked, step: int) -> None:
    """The page shows this state, and nothing else."""
    shown = browser.run(SHOWN)
    last = len(race.states) - 1
    assert shown["states"] == [step]
    assert shown["position"] == f"{step} / {last}"
    assert shown["current"] == ([step] if step else [])
    if step:
        sentence = explain(race.finding).steps[step - 1].text
        assert shown["sentence"] == sentence
        assert shown["spoken"] == f"After step {step}: {sentence}"
    for view in ("API server", "lister", "nominator", "cache"):
        for pod in ("v", "p", "q"):
            texts = shown["cells"][view][pod]
            placed = {t for t in texts if t.startswith(("on n", "nominated to")) and t != "on no node"}
            assert placed == expected_on(race.states[step], view, pod), (step, view, pod)
    assumed = race.states[step]["cache.pod[q].assumed"]
    assert ("assumed" in shown["cells"]["cache"]["q"]) == assumed
    assert ("q (assumed)" in shown["drawn"][1]) == assumed


def test_the_slider_walks_all_steps(browser: Browser, race: Checked) -> None:
    last = len(race.states) - 1
    assert last == 15
    assert_shown(browser, race, 0)
    for step in range(1, last + 1):
        browser.press("ArrowRight")
        assert_shown(browser, race, step)
        assert browser.run(SHOWN)["changed"] > 0
    browser.press("ArrowRight")
    assert_shown(browser, race, last)
    browser.press("Home")
    assert_shown(browser, race, 0)
    browser.press("End", "ArrowLeft")
    assert_shown(browser, race, last - 1)


def test_buttons_rows_and_the_slider_itself(browser: Browser, race: Checked) -> None:
    browser.click("#finding-1 [data-move='1']")
    assert_shown(browser, race, 1)
    browser.click("#finding-1 [data-move='-1']")
    assert_shown(browser, race, 0)
    assert browser.run("return document.querySelector('#finding-1 [data-move=\"-1\"]').disabled")
    browser.click("#finding-1 [data-step='9']")
    assert_shown(browser, race, 9)
    browser.run(
        "const slider = document.querySelector('#finding-1 input'); slider.value = '12';"
        "slider.dispatchEvent(new Event('input'));"
    )
    assert_shown(browser, race, 12)


def test_keys_are_for_the_counterexample_that_has_the_focus(browser: Browser, race: Checked) -> None:
    browser.run("document.querySelector('#finding-2 input').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert browser.run("return document.querySelector('#finding-2 output').value") == "2 / 20"
    assert_shown(browser, race, 0)


def test_a_link_to_a_state_opens_it(browser: Browser, race: Checked, page: Path) -> None:
    browser.command("POST", "/url", {"url": "about:blank"})
    browser.command("POST", "/url", {"url": f"{page.as_uri()}#finding-1-state-10"})
    assert_shown(browser, race, 10)


def test_where_views_begin_to_differ_is_marked(browser: Browser, race: Checked) -> None:
    ticks = browser.run("return document.querySelectorAll('#finding-1 .tick').length")
    diverging = [t.number for t in explain(race.finding).steps if t.diverges]
    assert diverging == [9, 10, 15]
    assert ticks == 3
    browser.click("#finding-1 [data-step='9']")
    disputed = "return [...document.querySelectorAll('#finding-1 .state:not([hidden]) .disputed')].map((f) => f.firstChild.data)"
    assert browser.run(disputed) == ["nominated to n1", "not nominated", "not nominated"]


def test_before_and_after_the_fix(browser: Browser) -> None:
    cards = browser.run(
        "return [...document.querySelectorAll('.card .badge')].map((badge) => badge.textContent)"
    )
    assert cards == ["VIOLATED", "HOLDS"]


@pytest.mark.parametrize("width", [320, 390, 800, 1280])
def test_nothing_sticks_out(browser: Browser, width: int) -> None:
    browser.resize(width, 800)
    assert browser.run("return document.documentElement.scrollWidth") == width
    browser.press("End")
    assert browser.run("return document.documentElement.scrollWidth") == width


DRAWN = """
return [...document.querySelectorAll('svg')].filter((svg) => svg.checkVisibility()).map((svg) => {
    const canvas = svg.getBoundingClientRect();
    const words = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
    const cut = words.filter(([, a]) =>
        a.left < canvas.left || a.right > canvas.right + 0.5 || a.top < canvas.top - 1 || a.bottom > canvas.bottom + 1);
    const meet = words.filter(([, a], i) => words.some(([, b], j) => i < j
        && a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom));
    return [words.length > 0, cut.map(([text]) => text), meet.map(([text]) => text)];
});
"""


def test_long_names_fit_into_the_drawings(session: Browser, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    path.write_text(to_html([LONG]), encoding="utf-8")
    session.resize(1280, 900)
    session.open(path)
    assert session.run(DRAWN) == [[True, [], []]] * 3
    for width in (320, 1280):
        session.resize(width, 800)
        assert session.run("return document.documentElement.scrollWidth") == width


CONTRAST = """
const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => {
        const c = part / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const clear = (colour) => colour === 'rgba(0, 0, 0, 0)' || colour === 'transparent';
const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor;
        if (!clear(colour)) return colour;
    }
    return getComputedStyle(document.body).backgroundColor;
};
const found = [];
for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest('svg, script, :disabled') || !element.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
}
return found;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(browser: Browser, scheme: str) -> None:
    """WCAG 2.2, contrast (minimum): 4.5 to 1 for every text."""
    browser.prefer(scheme)
    browser.press("End")
    assert browser.run(CONTRAST) == []
    background = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(251, 250, 247)", "dark": "rgb(20, 23, 26)"}[scheme]


def test_everything_that_acts_has_a_name(browser: Browser) -> None:
    nameless = browser.run(
        "return [...document.querySelectorAll('button, input, [role], section')]"
        ".filter((e) => !(e.ariaLabel || e.getAttribute('aria-labelledby') || e.querySelector(':scope > title, h2')))"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert nameless == []


def test_on_paper_all_states_are_there(browser: Browser) -> None:
    browser.prefer("light", medium="print")
    visible = (
        "return [...document.querySelectorAll('#finding-1 .state')].filter((s) => s.checkVisibility()).length"
    )
    assert browser.run(visible) == 16
    assert browser.run("return document.querySelector('.controls').checkVisibility()") is False


def test_without_javascript_all_states_are_there(session: Browser, page: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.html"
    plain.write_text(
        re.sub(r"<script>.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.S), "utf-8"
    )
    session.prefer("light")
    session.open(plain)
    visible = (
        "return [...document.querySelectorAll('#finding-1 .state')].filter((s) => s.checkVisibility()).length"
    )
    assert session.run(visible) == 16
    assert session.run("return document.querySelector('.controls').checkVisibility()") is False


def test_nothing_is_loaded(browser: Browser) -> None:
    assert browser.run("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
