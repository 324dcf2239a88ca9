"""The filter of all output, and every form with hostile names, titles and words in it."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from typing import Any
from xml.etree import ElementTree as xml

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from podrace.reports.ci_outcome import Style
from podrace.reports.document import Finding
from podrace.reports.filtered import WithoutCommands, escaped_json, on_one_line, shown, without_commands
from podrace.reports.formats.forms import FORMS
from podrace.reports.formats.markdown import plain
from podrace.reports.graphs import to_dot
from podrace.reports.graphs.render import render
from podrace.reports.text.filtered_console import FilteredConsole
from podrace.reports.text.findings_text import print_report
from tests.reports.samples import VIOLATED
from tests.reports.shown import SHOWN

ANSI = re.compile(r"\x1b\[[0-9;]*m")
EVIL = (
    "Evil\n::error file=x::owned\r\x1b]0;title\x07\x1b[31m\x9b31m\u202e\u200b\u2028##[group]x ##vso[task.x]y ##teamcity[z] "
    "](http://e.example) www.e.example @everyone #1 </script><b>&lt;<!-- ``` --> \"'\\ {0} %%{init: {}}%% ]]>"
)
PIECES = ["::", ":", "#", "##", "[", "error", "vso[", " ", "\n", "\t", "a", "\x1b[1m", "\x1b[0m", "\r"]


def commands_in(output: str) -> list[str]:
    """The lines that a CI service would take for a command: as the runners of GitHub, Azure and TeamCity look for them."""
    lines = [line.lstrip() for line in output.split("\n")]
    return [
        line
        for line in lines
        if ANSI.sub("", line).lstrip().startswith("::") or re.search(r"##[A-Za-z]*\[", line)
    ]


def unseen_in(text: str) -> set[str]:
    """The letters that a terminal obeys or nobody sees."""
    return {c for c in text if not c.isprintable() and unicodedata.category(c) != "Zs"} - {"\n", "\t"}


def test_what_is_shown() -> None:
    assert shown("a\tb\nc – ✅ ⚠️ \u00a0") == "a\tb\nc – ✅ ⚠️ \u00a0"
    assert shown(
        "\x1b[31m\x9b\x07\r\x7f\u202e\u200b\u2066\u2028\ufeff\ud800"
    ) == "\N{REPLACEMENT CHARACTER}[31m" + ("\N{REPLACEMENT CHARACTER}" * 10)
    assert on_one_line("a\r\nb\v c\x1b") == "a b c\N{REPLACEMENT CHARACTER}"


def test_commands_are_none_any_more() -> None:
    assert without_commands("::error::x\n  ::warning::y\nsee a::b ##[group]z ##vso[q] # # ### ##b") == (
        ": :error::x\n  : :warning::y\nsee a::b ## [group]z ## vso[q] # # ### ##b"
    )
    assert commands_in("a\n\x1b[1m ::x\n##[y]") == ["\x1b[1m ::x", "##[y]"]
    assert commands_in(without_commands("a\n\x1b[1m ::x\n##[y]\n:\x1b[0m:z")) == []


@given(st.lists(st.lists(st.sampled_from(PIECES)).map("".join)))
def test_no_command_however_it_is_put_together(pieces: list[str]) -> None:
    written = io.StringIO(newline="")
    stream = WithoutCommands(written)
    for piece in pieces:
        stream.write(piece.replace("\r", ""))
    assert commands_in(written.getvalue()) == []
    assert written.getvalue().replace(" ", "") == "".join(pieces).replace("\r", "").replace(" ", "")


@given(st.recursive(st.text() | st.just("##[group]"), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_keeps_its_value(value: Any) -> None:
    for ascii_only in (False, True):
        text = escaped_json(json.dumps(value, ensure_ascii=ascii_only, indent=2))
        assert json.loads(text) == value
        assert (unseen_in(text), commands_in(text)) == (set(), [])


@pytest.mark.parametrize("width", [20, 80, 120])
def test_a_console_shows_no_command(width: int) -> None:
    """Neither in lines that were given, nor in those that it breaks, in tables and in colours."""
    written = io.StringIO()
    console = FilteredConsole(written, width)
    table = Table("name", "words")
    table.add_row(EVIL, f"aaaa {EVIL}")
    for thing in (EVIL, Text(EVIL, "bold"), f"{'a' * (width - 1)} ::error::x", table):
        console.print(thing)
        console.print(thing, soft_wrap=True)
    console.print(":", end="")
    console.print(":error::x")
    assert unseen_in(written.getvalue()) == set()
    assert commands_in(written.getvalue()) == []


def test_its_own_colours_stay() -> None:
    written = io.StringIO()
    console = FilteredConsole(written, 80)
    console._color_system = None
    coloured = FilteredConsole(written, 80)
    coloured.print(Text("red", "red"))
    console.print("plain")
    assert written.getvalue().endswith("plain\n")


def hostile(finding: Finding = VIOLATED) -> Finding:
    """A violated finding whose words all come from somebody else."""
    plain_text = json.loads(msgspec.json.encode(finding))

    def turned(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: turned(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [turned(v, key) for v in value]
        return f"{value} {EVIL}" if key in WORDS and isinstance(value, str) else value

    return msgspec.convert(turned(plain_text), Finding)


DRAWN = {
    "svg",
    "g",
    "title",
    "text",
    "polygon",
    "path",
    "polyline",
    "ellipse",
    "a",
    "tspan",
    "defs",
    "rect",
    "line",
    "style",
}
WORDS = (
    "scenario",
    "title",
    "words",
    "sentence",
    "notes",
    "actor",
    "call",
    "summary",
    "phrase",
    "label",
    "file",
)


def texts_in(value: Any) -> list[str]:
    """All messages of a SARIF log."""
    if isinstance(value, list):
        return [text for inner in value for text in texts_in(inner)]
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for inner in value.values() for text in texts_in(inner)]
    return []


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_is_filtered(form: str) -> None:
    text = FORMS[form]([hostile()], Style())
    assert unseen_in(text) == set()
    if form in ("json", "sarif"):
        assert "\x1b" in json.dumps(json.loads(text), ensure_ascii=False) or "\\u001b" in text
        assert commands_in(text) == []
    if form == "github":
        assert [line.partition(" ")[0] for line in commands_in(text)] == ["::notice"]
    if form == "sarif":
        assert [words for words in texts_in(json.loads(text)) if "](" in words] == []
    if form == "html":
        assert "<b>&lt;" not in text.replace("&lt;b&gt;", "")
        assert text.count("</script>") == 1
    if form == "mermaid":
        assert "%%{" not in text


def test_text_is_filtered() -> None:
    written = io.StringIO()
    print_report(FilteredConsole(written, 120), [hostile()])
    assert "Evil" in written.getvalue()
    assert (unseen_in(written.getvalue()), commands_in(written.getvalue())) == (set(), [])


@pytest.mark.parametrize("kind", ["lanes", "cluster"])
def test_drawings_are_filtered(kind: Any) -> None:
    text = to_dot(hostile(SHOWN), kind)
    assert unseen_in(text) == set()
    drawn = render(text, "svg")
    assert unseen_in(drawn.decode()) == set()
    assert {element.tag.rpartition("}")[2] for element in xml.fromstring(drawn).iter()} <= DRAWN


def test_markdown_takes_words_as_they_are() -> None:
    expected = (
        r"Evil :\:error file=x:\:owned ?\]0;title??\[31m?31m?? ##\[group\]x ##<!-- -->vso\[task.x\]y "
        r"##<!-- -->teamcity\[z\] \](http\://e.example) www\.e.example @<!-- -->everyone #<!-- -->1 "
        r"\</script\>\<b\>\&lt;\<!-- \`\`\` --\> " + "\"'" + r"\\ {0} %%{init: {}}%% \]\]\>"
    )
    assert plain(EVIL) == expected.replace("?", "\N{REPLACEMENT CHARACTER}")
