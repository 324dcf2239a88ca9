"""`podrace mcp`: what its tools answer and refuse; the server driven by the protocol's own client."""

from __future__ import annotations

import json
import os
import sys

import pytest

from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.cli.assistants.tools import Tools
from tests.cli.helpers import MINE, TINY, Shell, flat

ORDER = ["scheduler writes p nominated to n1", "scheduler assumes q on n1"]
NEVER = [
    "users delete a", "The watch delivers to the cache's handler that a is gone", "end: lister: a exists",
]  # fmt: skip
CODE = "this server runs none: it would have to be started with --allow-code"


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The directory that the server may read, with a neighbour that it may not."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "tiny.yaml").write_text(TINY, encoding="utf-8")
    (root / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "other.yaml").write_text(TINY, encoding="utf-8")
    (root / "linked.yaml").symlink_to(tmp_path / "other.yaml")
    os.mkfifo(root / "pipe.yaml")
    monkeypatch.chdir(root)
    return root


TOOLS = Tools(Budget(timeout=60, max_states=2_000_000))


def refusal(name, arguments, tools=TOOLS):
    with pytest.raises(Problem) as caught:
        tools.answer(name, arguments)
    return str(caught.value)


def test_check_gives_the_text_and_the_document(root, capsys):
    answer = TOOLS.answer("check", {"scenario": "tiny.yaml"})
    (finding,) = answer.document["findings"]
    assert (finding["verdict"], finding["property"], finding["states"]) == ("HOLDS", "S-CAP", 1)
    ran = Shell(capsys)("check", "tiny.yaml", "--closing", "0", "--no-cache")
    assert flat(answer.text).partition("Holds in")[0] == flat(ran.out).partition("Holds in")[0]
    assert json.loads(Shell(capsys)("check", "tiny.yaml", "-o", "json").out) == answer.document["findings"]


def test_ask_gives_what_the_command_gives(root, capsys):
    steps, releases = ["binding.bind(a, LOST)", "failure.requeue(a)", "scheduler.pop(a)"], "1.18.20,1.19.16"
    answer = TOOLS.answer("ask", {"scenario": "bound-but-requeued", "steps": steps, "release": releases})
    assert [one["answer"] for one in answer.document["answers"]] == ["IMPOSSIBLE", "POSSIBLE"]
    assert answer.text.rstrip().endswith("impossible in 1.18.20; possible in 1.19.16.")
    ran = Shell(capsys)("ask", "bound-but-requeued", *steps, "--release", releases, "-o", "json")
    assert json.loads(ran.out) == answer.document["answers"]


def test_hazards_are_those_that_say_all_words():
    answer = TOOLS.answer("hazards", {"words": ["gone", "victim"]})
    assert "gone-victim-again" in [row["name"] for row in answer.document["hazards"]]
    assert (
        TOOLS.answer("hazards", {"words": ["no such word"]}).text == "No race matches all of these words.\n"
    )


def test_a_stored_trace_is_executed_again(root, capsys):
    Shell(capsys)("check", "72124", "--closing", "0", "--save-trace", "race.json", "--no-cache")
    (finding,) = TOOLS.answer("explain", {"trace": "race.json"}).document["findings"]
    assert (finding["verdict"], len(finding["trace"])) == ("VIOLATED", 15)


@pytest.mark.ci
def test_verify_compares_with_a_change():
    answer = TOOLS.answer("verify", {"changes": ["53647"], "scenarios": ["53647"]})
    assert answer.document["outcomes"] == {"L-ISO": "fixed", "S-ERR": "still violated"}
    assert answer.text.startswith("L-ISO: fixed\nS-ERR: still violated\n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../other.yaml", "`../other.yaml` is outside the directory that this server may read"),
        ("linked.yaml", "`linked.yaml` is outside the directory that this server may read"),
        ("/etc/passwd", "`/etc/passwd` is outside the directory that this server may read"),
        ("~/x.yaml", "`~/x.yaml`: there is no such file"),
        ("pipe.yaml", "`pipe.yaml`: there is no such file"),
        ("./\0.yaml", "can be no name of a file"),
        ("./" + "a" * 300, "can be no name of a file"),
    ],
)
def test_files_elsewhere_are_refused(root, name, said):
    assert said in refusal("check", {"scenario": name})
    assert said in refusal("explain", {"trace": name})
    assert said in refusal("verify", {"changes": ["72259"], "scenarios": [name]})


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("check", {"scenario": "tiny.yaml", "patches": ["mine.py"]}),
        ("check", {"scenario": "tiny.yaml", "property_files": ["mine.py:NobodyAssumed"]}),
        ("ask", {"scenario": "tiny.yaml", "steps": ["scheduler.pop(p)"], "patches": ["mine.py"]}),
        ("verify", {"changes": ["mine.py"], "scenarios": ["tiny.yaml"]}),
        ("verify", {"changes": ["./mine.py:X"], "scenarios": ["tiny.yaml"]}),
        ("verify", {"changes": ["pr.diff"], "scenarios": ["tiny.yaml"]}),
        ("verify", {"changes": ["72259"], "scenarios": ["tiny.yaml"], "property_files": ["mine.py"]}),
        ("explain", {"trace": "tiny.yaml", "patches": ["mine.py"]}),
    ],
)
def test_code_is_refused_unless_it_is_allowed(root, tool, arguments):
    (root / "mine.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    assert CODE in refusal(tool, arguments)


def test_code_that_is_allowed_is_still_a_python_file_below_the_root(root):
    tools = Tools(TOOLS.budget, allow_code=True)
    arguments = {"scenario": "tiny.yaml", "property_files": ["mine.py"]}
    (finding,) = tools.answer("check", arguments).document["findings"]
    assert (finding["property"], finding["verdict"]) == ("MY-NONE", "VIOLATED")
    assert "outside" in refusal("check", {"scenario": "tiny.yaml", "patches": ["../mine.py"]}, tools)
    (root / "pr.diff").write_text("", encoding="utf-8")
    assert "name a Python file" in refusal("verify", {"changes": ["pr.diff"], "scenarios": ["72124"]}, tools)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("guess", {}, "unknown tool `guess`: there are check, ask, verify, explain, hazards"),
        ("check", {}, "check: Object missing required field `scenario`"),
        ("check", {"scenario": "72124", "cache": "x"}, "check: Object contains unknown field `cache`"),
        ("ask", {"scenario": "72124", "steps": []}, "ask: Expected `array` of length >= 1 - at `$.steps`"),
        ("check", {"scenario": "72124", "timeout": "2m"}, "timeout: this server allows 60s at most: ask for less"),
        ("check", {"scenario": "72124", "max_states": "5M"}, "max_states: this server allows 2000000 at most: ask for less"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tool, arguments, said):
    assert refusal(tool, arguments) == said


def test_a_call_may_ask_for_less(root):
    answer = TOOLS.answer("check", {"scenario": "tiny.yaml", "properties": ["S-CONS"], "max_states": "2"})
    assert answer.document["findings"][0]["verdict"] == "INCONCLUSIVE"


def test_without_the_extra_the_command_says_what_to_install(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "podrace.cli.assistants.server", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    ran = Shell(capsys)("mcp")
    assert ran.code == 2
    assert ran.err == (
        "podrace: `podrace mcp` needs the extra `podrace[mcp]`, which is not installed: run `pip install 'podrace[mcp]'`\n"
    )


def test_a_root_that_is_no_directory_is_refused(capsys, root):
    ran = Shell(capsys)("mcp", "--root", "tiny.yaml")
    assert (ran.code, ran.err) == (2, "podrace: --root: `tiny.yaml` is not a directory: name one\n")


@pytest.mark.ci
def test_the_protocols_own_client_asks(root):
    anyio = pytest.importorskip("anyio")
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from podrace.cli.main import main; main()", "mcp", "--root", str(root)],
    )

    async def drive():
        async with Client(stdio_client(server)) as client:
            assert client.server_info is not None
            assert (client.server_info.name, "Before you claim" in str(client.instructions)) == (
                "podrace",
                True,
            )
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["check", "ask", "verify", "explain", "hazards"]
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
            assert tools["ask"].input_schema["required"] == ["scenario", "steps"]
            possible = await client.call_tool("ask", {"scenario": "72124", "steps": ORDER})
            impossible = await client.call_tool("ask", {"scenario": "missed-deletion", "steps": NEVER})
            refused = await client.call_tool("check", {"scenario": "tiny.yaml", "patches": ["mine.py"]})
            held = await client.call_tool("check", {"scenario": "tiny.yaml"})
        return possible, impossible, refused, held

    possible, impossible, refused, held = anyio.run(drive)
    assert [r.structured_content["answers"][0]["answer"] for r in (possible, impossible)] == [
        "POSSIBLE", "IMPOSSIBLE",
    ]  # fmt: skip
    assert possible.content[0].text.startswith("nominated-node-race, 1.13.0: POSSIBLE\n")
    assert (refused.is_error, refused.structured_content) == (True, None)
    assert refused.content[0].text == f"podrace: `mine.py` is code, and {CODE}"
    assert held.structured_content["findings"][0]["verdict"] == "HOLDS"
