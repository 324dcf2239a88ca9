"""Which package may import which: read from the source of every file, never by importing it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MODEL = {"model", "model.language", "model.scheduler", "model.environment", "model.history"}

CHAIN = {"analysis", "analysis.request"}
ANALYSIS = {
    *CHAIN, "analysis.prove", "analysis.compare", "analysis.stored",
    "analysis.upstream", "analysis.ask", "analysis.possible", "analysis.walk",
}  # fmt: skip

# A layer is a package with all its sub-packages, less those that are layers themselves. Each may
# import itself, base and the layers named here.
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "model.language": set(),
    "model.scheduler": MODEL - {"model.history"},
    "model.environment": MODEL - {"model.history"},
    "model.history": MODEL,
    "model": MODEL,
    "checker": {"model.language"},
    "properties": MODEL - {"model.history"},
    # Names for the files of users, of whatever they may be written with.
    "patching": {*MODEL, "properties"},
    "reports": {"checker", "model.language"},
    "scenarios": MODEL,
    "manifests": {*MODEL, "scenarios"},
    # analysis, from the bottom up: what is asked; one run to its finding; then what asks for several.
    "analysis.ask": {*MODEL, "checker", "properties"},
    "analysis.request": {
        *MODEL,
        "analysis.ask",
        "checker",
        "patching",
        "properties",
        "reports",
        "scenarios",
        "manifests",
    },
    "analysis": {
        *MODEL,
        "analysis.request",
        "checker",
        "properties",
        "reports",
        "scenarios",
    },
    "analysis.prove": {
        *MODEL,
        *CHAIN,
        "analysis.ask",
        "analysis.possible",
        "checker",
        "properties",
        "reports",
        "scenarios",
    },
    "analysis.compare": {*MODEL, *CHAIN, "analysis.prove", "checker", "properties", "reports", "scenarios"},
    "analysis.stored": {
        *MODEL,
        *CHAIN,
        "analysis.ask",
        "checker",
        "properties",
        "reports",
        "scenarios",
    },
    "analysis.possible": {*MODEL, *CHAIN, "analysis.ask", "checker", "properties", "reports"},
    "analysis.walk": {
        *MODEL,
        *CHAIN,
        "analysis.ask",
        "analysis.possible",
        "analysis.stored",
        "checker",
        "properties",
        "reports",
    },
    "analysis.upstream": {"model.history", "analysis.request", "scenarios"},
    # What a real cluster wrote down: read as manifests are, and told in a document of its own; runs that explain it as the chain tells steps.
    "audit": {
        *MODEL,
        "analysis",
        "analysis.request",
        "checker",
        "manifests",
        "properties",
        "reports",
        "scenarios",
    },
    # Counterexamples on the real scheduler: made of what the chain finds, and judged by the interpreter.
    "reproduce": {
        *MODEL,
        *CHAIN,
        "analysis.ask",
        "analysis.stored",
        "analysis.upstream",
        "checker",
        "properties",
        "reports",
        "scenarios",
    },
    # Who asks knows what is asked, what comes out, and nothing of engines, of the model or of properties.
    "api": {*ANALYSIS, "audit", "properties", "reports", "scenarios"},
    "cli": {*ANALYSIS, "api", "audit", "reproduce", "reports", "scenarios", "model.language"},
}
FOLDERS = sorted({layer.partition(".")[0] for layer in ALLOWED})
FREE_FOLDERS = ["bench", "docs", "tests"]


@dataclass(frozen=True)
class Source:
    path: str
    text: str

    @property
    def module(self) -> str:
        """The name inside podrace: model.language for model/language/__init__.py."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_package(self) -> bool:
        return self.path.endswith("/__init__.py")


def layer_of(module: str) -> str | None:
    """The layer a module belongs to; None for podrace itself and for folders without a rule."""
    while module and module not in ALLOWED:
        module = module.rpartition(".")[0]
    return module or None


def imported_names(source: Source, modules: set[str]) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything imported, relative imports resolved against podrace."""
    full = f"podrace.{source.module}"
    package = full if source.is_package else full.rpartition(".")[0]
    for node in ast.walk(ast.parse(source.text, source.path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
                if not parents:
                    base = "." * node.level + base
            for alias in node.names:
                # "from .. import model" names a module, "from ..model import Action" something in one.
                member = f"{base}.{alias.name}"
                is_module = base == "podrace" or member.removeprefix("podrace.") in modules
                yield node.lineno, member if is_module and alias.name != "*" else base
        elif isinstance(node, ast.Call) and node.args:
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            target = node.args[0]
            if name in {"import_module", "__import__"} and isinstance(target, ast.Constant):
                yield node.lineno, str(target.value)


def violations(source: Source, modules: set[str]) -> list[str]:
    """The broken rules of one file, each as file:line: what is wrong."""
    found = []
    free = source.module.partition(".")[0] in FREE_FOLDERS
    layer = layer_of(source.module)
    if not free and layer is None:
        return [f"{source.path}:1: no rule in ALLOWED covers {source.module}"]
    for line, name in imported_names(source, modules):
        where = f"{source.path}:{line}:"
        top = name.partition(".")[0]
        if name.startswith("."):
            if not free:
                found.append(f"{where} the relative import {name} leads out of podrace")
        elif top in FOLDERS:
            found.append(f"{where} imports {name}, whose name is podrace.{name}")
        elif top == "podrace" and layer is not None:
            target = layer_of(name.removeprefix("podrace").removeprefix("."))
            if target is None:
                found.append(f"{where} imports {name}, which hides the package that is meant: name that one")
            elif target not in {layer, "base", *ALLOWED[layer]}:
                may = ", ".join(sorted(ALLOWED[layer])) or "nothing else of podrace"
                found.append(f"{where} {layer} imports {target}, but may import only itself, base and: {may}")
    return found


def read_sources() -> list[Source]:
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for folder in [*FOLDERS, *FREE_FOLDERS]
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def test_imports_follow_the_rules() -> None:
    sources = read_sources()
    modules = {source.module for source in sources}
    found = [message for source in sources for message in violations(source, modules)]
    assert not found, "\n" + "\n".join(found)


def test_every_folder_with_code_is_packaged() -> None:
    """A folder without __init__.py works from a checkout, but is missing from the installed podrace."""
    folders = {path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    missing = [str(path.relative_to(ROOT)) for path in folders if not (path / "__init__.py").exists()]
    assert not missing, f"no __init__.py in: {', '.join(sorted(missing))}"
    assert [folder for folder in FOLDERS if not (ROOT / folder / "__init__.py").exists()] == []


def test_folders_are_the_same_everywhere() -> None:
    """setup.py, the Makefile and the rules here know the same top-level folders."""
    setup = re.search(r"^FOLDERS = (\(.*?\))$", (ROOT / "setup.py").read_text(encoding="utf-8"), re.M | re.S)
    makefile = re.search(r"^FOLDERS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert setup is not None
    assert sorted(ast.literal_eval(setup[1])) == FOLDERS
    assert makefile is not None
    assert sorted(makefile[1].split()) == FOLDERS
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - set(FREE_FOLDERS) == set(FOLDERS)


def edges_of(sources: list[Source], type_checking: bool) -> dict[str, set[str]]:
    """Which module imports which; with `type_checking` also what only type checkers read."""
    modules = {source.module for source in sources}
    found: dict[str, set[str]] = {}
    for source in sources:
        text = source.text if type_checking else without_type_checking(source.text)
        names = (name for _, name in imported_names(replace(source, text=text), modules))
        targets = {name.removeprefix("podrace.") for name in names if name.startswith("podrace.")}
        found[source.module] = (targets & modules) - {source.module}
    return found


def without_type_checking(text: str) -> str:
    """The text without what stands below `if TYPE_CHECKING:`."""
    tree = ast.parse(text)
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
    ]
    return ast.unparse(tree)


def by_room(edges: dict[str, set[str]], packages: set[str]) -> dict[str, set[str]]:
    """Which package imports which. A module is in the package that its folder is."""

    def room(module: str) -> str:
        return module if module in packages else module.rpartition(".")[0]

    found: dict[str, set[str]] = {}
    for module, targets in edges.items():
        found.setdefault(room(module), set()).update(room(target) for target in targets)
    return {name: targets - {name} for name, targets in found.items()}


def circles(edges: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The strongly connected components with more than one member (Tarjan), each sorted."""
    number: dict[str, int] = {}
    least: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        number[name] = least[name] = len(number)
        stack.append(name)
        for target in sorted(edges.get(name, ())):
            if target not in number:
                visit(target)
                least[name] = min(least[name], least[target])
            elif target in stack:
                least[name] = min(least[name], number[target])
        if least[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for name in sorted(edges):
        if name not in number:
            visit(name)
    return sorted(found)


@pytest.mark.parametrize("when", ["run time", "type checking"])
def test_nothing_imports_in_a_circle(when: str) -> None:
    """Neither modules nor the packages that they are in."""
    sources = [source for source in read_sources() if source.module.partition(".")[0] in FOLDERS]
    edges = edges_of(sources, when == "type checking")
    rooms = by_room(edges, {source.module for source in sources if source.is_package})
    assert [*circles(edges), *circles(rooms)] == []


def test_circles_are_found() -> None:
    chain = {"a": {"b"}, "b": {"c"}, "c": set[str]()}
    assert circles(chain) == []
    assert circles({**chain, "c": {"b"}, "d": {"e"}, "e": {"d", "a"}}) == [("b", "c"), ("d", "e")]
    assert by_room({"p": {"p.x"}, "p.x": {"q.y"}, "q.y": {"p"}}, {"p", "q"}) == {"p": {"q"}, "q": {"p"}}
    text = "from .a import x\nif TYPE_CHECKING:\n    from .b import y\ndef f():\n    from .c import z\n"
    assert without_type_checking(text) == "from .a import x\n\ndef f():\n    from .c import z"


KNOWN = {
    *ALLOWED,
    "model.language.expr",
    "model.scheduler.queue",
    "checker.explore",
    "checker.search",
    "analysis.chain",
}


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("model/language/expr.py", "from ..scheduler import queue", "model.language imports model.scheduler"),
        ("model/language/expr.py", "import podrace.checker.explore", "model.language imports checker"),
        ("model/language/__init__.py", "from .. import x", "model.language imports model,"),
        ("base/text.py", "from ..model.language import x", "base imports model.language"),
        (
            "model/scheduler/queue/scheduling_queue.py",
            "from ...history import v1",
            "model.scheduler imports model.history",
        ),
        (
            "model/scheduler/queue/scheduling_queue.py",
            "from ... import history",
            "model.scheduler imports model.history",
        ),
        ("model/environment/node.py", "from ...checker import x", "model.environment imports checker"),
        ("model/history/v1.py", "from podrace import properties", "model.history imports properties"),
        (
            "checker/explore.py",
            "from ..model.scheduler.queue import Queue",
            "checker imports model.scheduler",
        ),
        ("checker/explore.py", "from ..model import scheduler", "checker imports model.scheduler"),
        ("checker/explore.py", "from ..model import Something", "checker imports model,"),
        ("checker/explore.py", "from ..model import *", "checker imports model,"),
        ("checker/__init__.py", "from ..reports import x", "checker imports reports"),
        ("properties/lost.py", "from ..model.history import x", "properties imports model.history"),
        ("properties/lost.py", "from ..checker import x", "properties imports checker"),
        ("reports/trace.py", "from podrace.properties import x", "reports imports properties"),
        ("reports/trace.py", "def f():\n    from .. import properties", "reports imports properties"),
        ("scenarios/__init__.py", "from ..checker import x", "scenarios imports checker"),
        ("checker/explore.py", "importlib.import_module('podrace.cli')", "checker imports cli"),
        ("cli/commands/find/check.py", "from ....checker.search import check", "cli imports checker"),
        ("analysis/chain.py", "from .compare import inquiry", "analysis imports analysis.compare"),
        ("analysis/request/plan.py", "from ..chain import verdicts", "analysis.request imports analysis,"),
        ("checker/explore.py", "import podrace", "hides the package"),
        ("checker/explore.py", "from .. import *", "hides the package"),
        ("checker/explore.py", "from ... import x", "leads out of podrace"),
        ("checker/explore.py", "import model.language", "whose name is podrace.model.language"),
        ("tests/test_x.py", "from checker import x", "whose name is podrace.checker"),
        ("newcomer/x.py", "", "no rule in ALLOWED covers newcomer.x"),
    ],
)
def test_bad_imports_are_found(path: str, text: str, message: str) -> None:
    found = violations(Source(path, text), KNOWN)
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith(f"{path}:{text.count(chr(10)) + 1}:")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "model/language/expr.py",
            "import ast\nfrom ...base.text import x\nfrom . import types\nfrom .types import Int\nimport numpy.random",
        ),
        ("model/language/__init__.py", "from .expr import Expr\nfrom . import expr"),
        (
            "model/scheduler/queue/scheduling_queue.py",
            "from ...language import x\nfrom ...environment import y",
        ),
        ("model/environment/node.py", "from ..language.expr import x\nfrom ..scheduler.queue import Queue"),
        ("model/history/v1.py", "from .. import scheduler\nfrom ..scheduler import queue"),
        (
            "checker/explore.py",
            "from ..model.language import x\nfrom ..model import language\nfrom . import a",
        ),
        (
            "properties/lost.py",
            "from ..model import x\nfrom ..model.scheduler import y\nfrom .common import z",
        ),
        ("reports/trace.py", "from ..checker.explore import x\nfrom podrace.model.language import y"),
        ("scenarios/__init__.py", "from ..model.history import x\nfrom .loader import y"),
        (
            "cli/main.py",
            "from .. import analysis, api, reports, scenarios\nfrom ..model.language.errors import ModelError",
        ),
        ("tests/test_x.py", "from podrace.checker import x\nimport podrace.cli\nfrom . import helpers"),
        ("bench/speed.py", "from podrace.model.language import x"),
    ],
)
def test_good_imports_pass(path: str, text: str) -> None:
    assert violations(Source(path, text), KNOWN) == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_pages_name_what_is_there(page: str) -> None:
    """Every path from the root that stands between backquotes; `make` targets too."""
    text = (ROOT / page).read_text(encoding="utf-8")
    paths = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*/(?:[a-zA-Z_0-9.]+\.[a-z]+)?)`", text)
    assert len(paths) > 2
    assert [path for path in paths if not (ROOT / path).exists()] == []
    targets = re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.M)] == []
