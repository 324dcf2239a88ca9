"""Files that would be a model that says something else than it seems to are refused, with the line."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import pytest

import podrace.model
import podrace.properties
from podrace.analysis.own_systems import own_system
from podrace.analysis.request.own_modules import states_of
from podrace.analysis.request.own_properties import own_properties
from podrace.analysis.request.patches import read_patch
from podrace.analysis.request.pitfalls import States, pitfalls_of
from podrace.base.problems import UsageProblem
from podrace.model.language import ModelError
from podrace.model.language.expressions.expr import true
from podrace.model.language.own_systems.hearing import hear_symbols, hearing, name_of_code

LOCK = """\
from podrace.model.language import Entity, Expr, System, all_of, any_of, boolean, fifo, invariant, otherwise, per, ref, require, step, when


class User(Entity):
    members = 2


class Lock(System):
    held = per(User, boolean())
    owner = ref(User)
    asking = per(User, fifo(1, ref(User)))

    @step(actor="user", each="who")
    def take(self, who: User) -> None:
{body}

    @invariant
    def free(self) -> object:
        return {holds}
"""
HASH = "a hash, as of a key or in a set,"
CLASS = "its class"
NOTHING = "{} says nothing of what a symbolic value holds: compare it by `==`, or with `one_of(...)`"
LEAVES = (
    "in a `with when(...)` block leaves it in all states, not only where the condition holds: "
    "put what follows into `with otherwise():`"
)
SAME = "`is` does not look at what `{}` holds: write `.is_none`, `.is_some` or `==`"
SYMBOL = "`.{}` says nothing of what `{}` holds: compare it by `==`, or with `one_of(...)`"
HIDES = (
    "this `except` would hide mistakes that the modelling language finds: name the exceptions that are meant"
)
ENDLESS = "this `while` would never end: nothing in it leaves it, or changes what it waits for"
KEPT = (
    "the block of line {} gave `{}` what it has here, in all states and not only where its condition holds: "
    "use `select(...)`, or assign to declared state"
)
UNSEEN = "what leaves such a block, or stays after it, is found by that"
FOLLOW = "`otherwise` must directly follow a `when` block at the same level"
NEVER = "the body of `take` would never run: a step has no `yield`, and is not `async`"


def written(folder: Path, body: str, holds: str = "self.owner.is_none") -> Path:
    file = folder / "lock.py"
    indented = "\n".join(f"        {line}" for line in body.splitlines())
    file.write_text(LOCK.format(body=indented, holds=holds))
    return file


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("with when(self.held[who]):\n    return\nself.owner = who", 16, f"`return` {LEAVES}"),
        ("with when(self.held[who]):\n    if who.index:\n        return\nself.owner = who", 17, f"`return` {LEAVES}"),
        ("with when(self.held[who]):\n    for u in (1, 2):\n        return", 17, f"`return` {LEAVES}"),
        ("for u in self.universe[User]:\n    with when(self.held[u]):\n        continue\n    self.owner = u", 17, f"`continue` {LEAVES}"),
        ("for u in self.universe[User]:\n    with when(self.held[u]):\n        break", 17, f"`break` {LEAVES}"),
        ("with when(self.held[who]):\n    pass\nwith otherwise():\n    return\nself.owner = who", 18, f"`return` {LEAVES}"),
        ("with when(self.held[who]):\n    return\nwith otherwise():\n    self.owner = who", 16, f"`return` {LEAVES}"),
        ("with when(self.held[who]):\n    return who", 16, f"`return` {LEAVES}"),
        ("for u in self.universe[User]:\n    with when(self.held[u]):\n        return", 17, f"`return` {LEAVES}"),
        ("self.owner = who\nwhile True:\n    self.held[who] = True", 16, ENDLESS),
        ("n = 3\nwhile n > 0:\n    self.held[who] = True", 16, ENDLESS),
        ("require(self.owner is None)", 15, SAME.format("owner")),
        ("if self.owner is not None:\n    self.owner = who", 15, SAME.format("owner")),
        ("require(self.held[who] is True)", 15, SAME.format("held")),
        ("require(self.owner.is_none is False)", 15, SAME.format("owner")),
        ("require(self.asking[who].head is None)", 15, SAME.format("asking")),
        ("mine = self.owner\nif mine is None:\n    self.owner = who", 16, SAME.format("owner")),
        ("require(self.owner.index == 1)", 15, SYMBOL.format("index", "owner")),
        ("require(self.asking[who].head.name == 'user1')", 15, SYMBOL.format("name", "asking")),
        ("first = self.asking[who].head\nrequire(first.index == who.index)", 16, SYMBOL.format("index", "asking")),
        ("require(self.held[who].value == 0)", 15, SYMBOL.format("value", "held")),
        ("when(self.held[who])\nself.owner = who", 15, "a condition by itself changes nothing: write `with when(...):`"),
        ("self.owner == who", 15, "a comparison by itself changes nothing: write `=`, or `require(...)`"),
        ("self.owner = who\nself.held[who] | self.owner.is_none", 16, "this expression is not used: assign it, return it, or `require` it"),
        ("~self.held[who]", 15, "this expression is not used: assign it, return it, or `require` it"),
        ("select(self.held[who], 1, 2)", 15, "what `select` gives is not used: assign it, return it, or `require` it"),
        ("x = 0\nwith when(self.held[who]):\n    x = 1\nrequire(x == 1)", 18, KEPT.format(16, "x")),
        ("x = 0\nwith when(self.held[who]):\n    x += 1\nwith otherwise():\n    x += 2", 19, KEPT.format(16, "x")),
        ("for u in (1, 2):\n    with when(self.held[who]):\n        x = u\nself.held[who] = x == 2", 18, KEPT.format(16, "x")),
        ("with when(self.held[who]):\n    x = 1\nwith otherwise():\n    x = 2\nrequire(x == 2)", 19, KEPT.format(17, "x")),
        ("x = []\nwith when(self.held[who]):\n    x.append(who)\nrequire(len(x) == 1)", 18, KEPT.format(16, "x")),
        ("x = [0]\nwith when(self.held[who]):\n    x[0] = 1\nrequire(x[0] == 1)", 18, KEPT.format(16, "x")),
        ("x = []\nfor u in (who, who):\n    with when(self.held[u]):\n        x.append(u)", 18, KEPT.format(17, "x")),
        ("def noted(some):\n    with when(self.held[who]):\n        some.append(1)\nnoted([])", 17, "`some` changes here in all states: no block sees what Python keeps"),
        ("with when(self.held[who]), when(self.owner == who):\n    pass\nwith otherwise():\n    self.owner = who", 17, "`otherwise` looks at the first condition alone: join the conditions above, `with when(a & b):`"),
        ("for u in self.universe[User]:\n    with when(self.held[u]):\n        pass\nwith otherwise():\n    self.owner = who", 18, FOLLOW),
        ("with when(self.held[who]):\n    pass\nself.free()\nwith otherwise():\n    self.owner = who", 18, FOLLOW),
        ("from podrace.model.language import when as so\nwith so(self.held[who]):\n    return", 15, f"import `when` under its own name: {UNSEEN}"),
        ("so = when(self.held[who])\nwith so:\n    return\nself.owner = who", 15, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("import contextlib\nwith contextlib.ExitStack() as stack:\n    stack.enter_context(when(self.held[who]))\n    return", 17, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("import contextlib\n@contextlib.contextmanager\ndef held():\n    with when(self.held[who]):\n        yield\nx = 1\nwith held():\n    x = 2\nrequire(x == 1)", 19, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("def held():\n    return when(self.held[who])\nx = 1\nwith held():\n    x = 2\nrequire(x == 1)", 16, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("held = lambda: when(self.held[who])\nwith held():\n    return\nself.owner = who", 15, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("so = when\nwith so(self.held[who]):\n    return\nself.owner = who", 15, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("import functools\nso = functools.partial(when, self.held[who])\nwith so():\n    return\nself.owner = who", 16, f"write `with when(...):` where the block begins: {UNSEEN}"),
        ("try:\n    self.owner = 3\nexcept Exception:\n    pass", 17, HIDES),
        ("try:\n    self.owner = 3\nexcept:\n    pass", 17, HIDES),
        ("try:\n    self.owner = 3\nexcept (KeyError, ModelError):\n    pass", 17, HIDES),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, body: str, line: int, message: str) -> None:
    file = written(tmp_path, body)
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value) == f"{file}: line {line}: {message}"


@pytest.mark.parametrize(
    "body",
    [
        "with when(self.held[who]):\n    for u in (1, 2):\n        if u == 1:\n            continue\n        break",
        "with when(self.held[who]):\n    def all_held():\n        yield self.held[who]\n    require(any_of(all_held()))",
        "def at(when):\n    return when\nself.owner = at(who)",
        "with when(self.held[who]):\n    def two():\n        return 2\n    self.owner = who",
        "with when(self.held[who]):\n    x = 1\n    require(x == 1)\nx = 2\nrequire(x == 2)",
        "with when(self.held[who]):\n    x = 1\nif who.index:\n    x = 2\nelse:\n    x = 3\nrequire(x > 1)",
        "with when(self.held[who]):\n    for u in (who,):\n        pass\nrequire(all_of(self.held[u] for u in (who,)))",
        "for u in (1, 2):\n    with when(self.held[who]):\n        x = self.owner == who\n    require(~self.held[who] | x)",
        "held = self.held\nwith when(held[who]):\n    held[who] = False\nrequire(~held[who])",
        "if who.index == 0:\n    return\nself.owner = who",
        "if who is None or self.name is None:\n    return",
        "import logging\nlogging.debug(f'{self.owner}')\nlogging.getLogger('x').debug('%s', who)\nself.owner = who",
        "require(any_of({self.held[u] for u in (who,)}) | any_of({self.held[who], self.owner == who}))",
        "import logging\nlogging.getLogger('x').info(f'{self.owner}')\nNone if who else print(f'{self.owner}')\nself.owner = who",
        "import copy\nrequire(copy.deepcopy([self.owner])[0] == who)",
        "match (who, None):\n    case (User(), None):\n        self.owner = who",
        "print(f'{self.owner}', [self.owner])\nif isinstance(self.owner, Expr):\n    self.owner = who",
        "if who in {who: 1} and len({who}) == 1 and self.name in ('x',) or f'{who}' is str(who):\n    self.owner = who",
        "for guard in (self.held[who], None):\n    if guard is None:\n        self.owner = who",
        "require(self.owner == None)\nself.owner = who",
        "mine = self.owner\nmine = None\nif mine is None:\n    self.owner = who",
        "require(who.index == 0)\nself.owner = self.universe[User][who.index]",
        "with when(self.held[who]):\n    self.owner = who\n    return",
        "if who.index:\n    with when(self.held[who]):\n        pass\n    with otherwise():\n        return",
        "for u in self.universe[User]:\n    with when(self.held[u]):\n        continue",
        "n = 3\nwhile n > 0:\n    n -= 1",
        "while True:\n    self.owner = who\n    break",
        "while False:\n    pass",
        "'words'\n...\nprint(who == 1)\nself.owner = who",
        "steps = iter((1, 2))\ntry:\n    while True:\n        next(steps)\nexcept StopIteration:\n    self.owner = who",
        "try:\n    limit = {}[who]\nexcept KeyError:\n    self.owner = who",
        "require({who: True}.get(who, self.owner.is_none))\nself.owner = who",
    ],
)
def test_what_is_python_as_ever(tmp_path: Path, body: str) -> None:
    assert own_system(f"{written(tmp_path, body)}:Lock").kinds == {"User": 2}


@pytest.mark.parametrize(
    ("body", "holds", "message"),
    [
        ("self.owner = who\nyield", "True", f":13: {NEVER}"),
        ("self.owner = who", "None", ":17: `free` returns nothing: return a condition"),
        ("self.owner = who", "1", ":17: `free` returns `1`: return a condition"),
        ("self.owner = who", "(True, False)", ":17: `free` returns `(True, False)`: return a condition"),
        ("del self.owner", "True", ":15: `del` of `owner`: state stays declared, so assign what it is then"),
        ("raise SystemExit(0)", "True", ": line 15: SystemExit: 0"),
    ],
)
def test_what_is_found_while_it_is_traced(tmp_path: Path, body: str, holds: str, message: str) -> None:
    file = written(tmp_path, body, holds)
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value) == f"{file}{message}"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("[boolean(), boolean()]", "`boolean(...)` in a list, tuple or dict is no state: write `per(range(N), boolean(...))`, or one name for each"),
        ("{u: ref(User) for u in (1, 2)}", "`ref(...)` in a list, tuple or dict is no state: write `per(range(N), ref(...))`, or one name for each"),
        ("ref([User])", "`ref` needs a kind of entity, not `["),
        ("enum('A')", "`enum` needs an Enum class, not `'A'`"),
        ("enum(Colour, 1)", "`1` is no member of Colour"),
        ("integer(0, 3, 7)", "an integer in 0..3 cannot start at 7"),
    ],
)  # fmt: skip
def test_declarations_that_are_none(tmp_path: Path, declared: str, message: str) -> None:
    file = written(tmp_path, "self.owner = who")
    imports = "from enum import Enum\nfrom podrace.model.language import enum, integer\nColour = Enum('Colour', 'RED GREEN')\n"
    file.write_text(
        imports + file.read_text().replace("owner = ref(User)", f"owner = ref(User)\n    other = {declared}")
    )
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value).startswith(f"{file}: line 14: {message}")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("@step", ': line 13: `@step` must say whose step it is: write `@step(actor="...")`'),
        ('@step(actor="user", each="whom")', ":13: step `take` has no parameter `whom`, as `each` says"),
    ],
)
def test_a_step_that_nobody_takes(tmp_path: Path, said: str, message: str) -> None:
    file = written(tmp_path, "self.owner = who")
    file.write_text(file.read_text().replace('@step(actor="user", each="who")', said))
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value) == f"{file}{message}"


FORGOTTEN = """

    def give_back(self, who: User) -> None:
        {body}
"""
NOBODY = "`give_back` looks like a step, and nobody calls it: mark it with `@step(actor=...)`"


@pytest.mark.parametrize(
    "body",
    ["self.owner = None", "self.held[who] = False", "self.asking[who].pop()", "require(self.held[who])"],
)
def test_a_step_without_its_mark(tmp_path: Path, body: str) -> None:
    file = written(tmp_path, "self.owner = who")
    file.write_text(file.read_text() + FORGOTTEN.format(body=body))
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value) == f"{file}: line 22: {NOBODY}"


@pytest.mark.parametrize(
    ("body", "of_the_step"),
    [
        ("return self.owner == who", "self.owner = who"),
        ("owner = who", "self.owner = who"),
        ("self.owner = None", "self.give_back(who)"),
        ("self.owner = None", "getattr(self, 'give_back')(who)"),
    ],
)
def test_a_method_that_is_no_step(tmp_path: Path, body: str, of_the_step: str) -> None:
    file = written(tmp_path, of_the_step)
    file.write_text(file.read_text() + FORGOTTEN.format(body=body))
    assert own_system(f"{file}:Lock").kinds == {"User": 2}


def test_a_patch_that_asks_inherited_state_by_identity(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(
        "from podrace.model.scheduler import Nominator\n\n\n"
        "class P(Nominator):\n"
        "    def delete(self, pod):\n"
        "        if self.node[pod] is None:\n"
        "            return\n"
        "        super().delete(pod)\n"
    )
    with pytest.raises(UsageProblem) as problem:
        read_patch(str(file))
    assert str(problem.value) == f"{file}: line 6: {SAME.format('node')}"


def test_a_patch_whose_step_would_never_end(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text(
        "from podrace.model.scheduler import Nominator\n\n\n"
        "class P(Nominator):\n"
        "    def delete(self, pod):\n"
        "        while True:\n"
        "            super().delete(pod)\n"
    )
    with pytest.raises(UsageProblem) as problem:
        read_patch(str(file))
    assert str(problem.value) == f"{file}: line 6: {ENDLESS}"


def test_a_file_that_would_never_end_is_not_begun(tmp_path: Path) -> None:
    file = tmp_path / "p.py"
    file.write_text("while 1:\n    pass\n")
    with pytest.raises(UsageProblem) as problem:
        read_patch(str(file))
    assert str(problem.value) == f"{file}: line 1: {ENDLESS}"


def test_the_model_has_none() -> None:
    """Not even if each file named all state that there is anywhere: many names of state are also those of something else."""
    packages = [podrace.model, podrace.properties]
    names = [m.name for p in packages for m in walk_packages(p.__path__, f"{p.__name__}.")]
    modules = [import_module(name) for name in names]
    assert len(modules) > 150
    everywhere = set().union(*(states_of(module).anywhere for module in modules))
    assert {"nodes", "node", "index"} - everywhere == {"index"}
    found = {}
    for module in modules:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        known = states_of(module)
        found[module.__name__] = [
            *pitfalls_of(tree, known), *pitfalls_of(tree, known._replace(anywhere=everywhere))
        ]  # fmt: skip
    assert {name: places for name, places in found.items() if places} == {}


def test_what_a_property_computes_is_no_state(tmp_path: Path) -> None:
    """`nodes` of a Property are entities, though the NodeTree's are state; `index` of a queue is asked, not the symbol's."""
    file = tmp_path / "p.py"
    file.write_text(
        "from podrace.model.scheduler import NodeTree\n"
        "from podrace.properties import Property\n\n\n"
        "class P(Property):\n    '''The first pod is nowhere.'''\n\n"
        "    id = 'MY-P'\n\n"
        "    def holds(self):\n"
        "        first = self.nodes[0]\n"
        "        return self.cache.on(self.pods[0], self.nodes[first.index]) | (self.queue.active.index(self.pods[0]) == 0)\n"
    )
    assert list(own_properties([str(file)])) == ["MY-P"]


def test_what_can_be_wrong_says_what_holds(tmp_path: Path) -> None:
    """Also in a class derived from one of podrace's that says no more."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from podrace.properties.scheduling.conditions import BoundPodsSayScheduled\n\n"
        'class Mine(BoundPodsSayScheduled):\n    """The same."""\n    id = "MY-COND"\n'
    )
    assert list(own_properties([str(file)])) == ["MY-COND"]


TWICE = "`{}` stands twice in {}: the one of line {} would be lost; give them different names"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    x = boolean()\n    y = x = 2\n", [(3, TWICE.format("x", "A", 2))]),
        ("    x = podrace.integer(0, 3)\n    x: int = 2\n", [(3, TWICE.format("x", "A", 2))]),
        ("    x = invariant(a)\n    x = invariant(b)\n", [(3, TWICE.format("x", "A", 2))]),
        ("    x: int\n    x = 2\n", []),
        ("    x = 1\n    x = 2\n", []),
        ("    def go(self): ...\n    def go(self): ...\n", [(3, TWICE.format("go", "A", 2))]),
        ("    x = boolean()\n    def x(self): ...\n", [(3, TWICE.format("x", "A", 2))]),
        ("    @property\n    def x(self): ...\n    @x.setter\n    def x(self, to): ...\n", []),
        ("    @overload\n    def x(self): ...\n    @typing.overload\n    def x(self, a): ...\n", []),
        ("    @f.register\n    def _(self): ...\n    @f.register\n    def _(self, a): ...\n", []),
        ("    def go(self): ...\n    go = step(actor='x')(go)\n", []),
        ("    if True:\n        x = boolean()\n    else:\n        x = integer(0, 2)\n", []),
    ],
)
def test_names_that_stand_twice(body: str, found: list[tuple[int, str]]) -> None:
    assert [
        pair for pair in pitfalls_of(ast.parse(f"class A:\n{body}"), States()) if "twice" in pair[1]
    ] == found


@pytest.mark.parametrize("mark", ["step(actor='x')", "invariant"])
def test_a_decorator_that_loses_the_mark(tmp_path: Path, mark: str) -> None:
    """The step would never run, the property would not be asked."""
    file = written(tmp_path, "self.owner = who")
    text = file.read_text()
    kept = "from functools import wraps\n\n\ndef plain(f):\n    @wraps(f)\n    def g(self):\n        return f(self)\n    return g\n\n\n"
    more = f"\n    @plain\n    @{mark}\n    def lost(self):\n        return self.owner.is_none\n"
    file.write_text(kept + text + more)
    assert own_system(f"{file}:Lock")
    file.write_text(kept.replace("    @wraps(f)\n", "\n") + text + more)
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    name = mark.partition("(")[0]
    assert str(problem.value) == (
        f"{file}: line 32: the decorator above it loses `@{name}`: write that first, or use `functools.wraps`"
    )


def test_nor_for_one_in_a_data_class(tmp_path: Path) -> None:
    body = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass V:\n    of: object\nrequire(V(self.owner) in {V(who)})"
    with pytest.raises(UsageProblem, match="a hash, as of a key or in a set, says nothing"):
        own_system(f"{written(tmp_path, body)}:Lock")


def test_data_classes_of_others_may_hash_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """All their methods are of the file `<string>`, and were refused once a data class of the user's was read."""
    source = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass V:\n    of: object"
    mine, other = ModuleType("mine"), ModuleType("other")
    for module in (mine, other):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(source, vars(module))
    hear_symbols()
    hearing(ast.parse(""), name_of_code("<string>", "mine"))
    assert hash(other.V(true())) == hash(other.V(true()))
    with pytest.raises(ModelError, match=f"^<string>:3: {HASH} says nothing"):
        hash(mine.V(true()))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("require(self.owner in {who})", HASH),
        ("for mine in (self.owner, None):\n    if mine is None:\n        self.owner = who", "`is`"),
        ("def same(a, b):\n    return a is b\nif not same(self.owner, who):\n    self.owner = who", "`is`"),
        ("if who is who is self.owner:\n    pass\nself.owner = who", "`is`"),
        ("require({who: True}.get(self.owner, False))", HASH),
        ("require({self.owner: 1} == {who: 1})", HASH),
        ("require({u: 1 for u in [self.owner]} == {who: 1})", HASH),
        ("require(len({self.owner, who}) == 1)", HASH),
        ("require(len({u for u in (self.owner, who)}) == 1)", HASH),
        ("require(len(set([self.owner, who])) == 1)", HASH),
        ("require(who in frozenset(u for u in [self.owner]))", HASH),
        ("require(isinstance(self.owner, User))", "`isinstance`"),
        ("require(str(self.owner) == 'user1')", "a text"),
        ("require('user1' in repr(self.owner))", "a text"),
        ("require(f'{self.owner}' == 'user1')", "a text"),
        ("require('%s' % self.owner == 'user1')", "a text"),
        ("require('%s %s' % (who, self.owner) == 'user1')", "a text"),
        ("require('{}'.format(self.owner) == 'user1')", "a text"),
        ("require(hash(self.owner) == hash(who))", HASH),
        ("require(type(self.owner) is User)", "`type`"),
        ("require(callable(self.owner))", "`callable`"),
        ("require(getattr(self.owner, 'index') == who.index)", "`getattr`"),
        ("import operator\nrequire(operator.is_(self.owner, who))", "`is`"),
        ("from operator import is_not\nrequire(is_not(self.owner, who))", "`is`"),
        ("match self.owner:\n    case User():\n        self.owner = who", "`match`"),
        ("match self.owner:\n    case [one]:\n        self.owner = who", "`match`"),
        ("match (self.owner, 1):\n    case (User(), 1):\n        self.owner = who", CLASS),
        ("match {'m': self.owner}:\n    case {'m': User()}:\n        self.owner = who", CLASS),
        (
            "from functools import singledispatch\nf = singledispatch(lambda m: False)\nf.register(User, lambda m: True)\nrequire(f(self.owner))",
            CLASS,
        ),
        ("mine = self.owner\nrequire(mine.__class__ == User)", CLASS),
        ("require(isinstance(self.owner, User | int))", "`isinstance`"),
        ("require('user1' in str([self.owner]))", "a text"),
        ("require(f'{(self.owner,)}' == '(user1,)')", "a text"),
        ("require(self.owner.__str__() == 'user1')", "a text"),
        ("require('user1' in list(map(str, [self.owner])))", "a text"),
        (
            "from string import Template\nrequire(Template('$m').substitute(m=self.owner) == 'user1')",
            "a text",
        ),
        ("print(said := f'{self.owner}')\nrequire(said == 'user1')", "a text"),
        ("log = []\nlog.append(f'{self.owner}')\nrequire(log[0] == 'user1')", "a text"),
        ("require('name' in dir(self.owner))", "`dir`"),
        ("require(hasattr(self.owner, 'name'))", "`.name`"),
        (
            "import contextlib\nwith contextlib.suppress(Exception):\n    self.owner = {who: who}[self.owner]",
            HASH,
        ),
        ("def bad(m):\n    return eval('m in {1}')\nrequire(bad(self.owner))", HASH),
        ("require((self.owner, 1) in {(who, 1)})", HASH),
        ("require({(who, 1): True}.get((self.owner, 1), False))", HASH),
        ("from collections import Counter\nrequire(Counter([who])[self.owner] == 1)", HASH),
        ("get = {who: True}.get\nrequire(get(self.owner, False))", HASH),
        ("require({who}.issuperset([self.owner]))", HASH),
        ("require(any(map({who}.__contains__, [self.owner])))", HASH),
        ("require(len({*[self.owner, who]}) == 1)", HASH),
        ("require(dict(zip([self.owner], [1])) == {who: 1})", HASH),
        ("from functools import partial\nrequire(partial({who: True}.get)(self.owner, False))", HASH),
        (
            "try:\n    require({who: True}[(self.owner,)])\nexcept KeyError:\n    self.owner = who",
            HASH,
        ),
    ],
)
def test_python_answers_for_no_symbol(tmp_path: Path, body: str, what: str) -> None:
    """Each was False without a word: of `x in {a, b}` as a guard the step was gone, and the rest HELD."""
    file = written(tmp_path, body)
    with pytest.raises(UsageProblem) as problem:
        own_system(f"{file}:Lock")
    assert str(problem.value).startswith(f"{file}:")
    assert str(problem.value).endswith(f": {NOTHING.format(what)}")


def test_a_symbol_in_a_case_that_python_asks_by_identity(tmp_path: Path) -> None:
    body = "match (self.owner, 1):\n    case (None, _):\n        self.owner = who"
    with pytest.raises(UsageProblem, match=r":16: `case None` is not a value of the modelling language"):
        own_system(f"{written(tmp_path, body)}:Lock")


def test_a_mistake_that_a_helper_hides_is_found(tmp_path: Path) -> None:
    """Only classes are searched for `except Exception`."""
    (tmp_path / "helper.py").write_text(
        "def asked(m, who):\n    try:\n        return m in (who,)\n    except Exception:\n        return False\n"
    )
    file = written(tmp_path, "from helper import asked\nrequire(asked(self.owner, who))")
    with pytest.raises(UsageProblem, match=r"helper\.py:3: a symbolic value has no truth value"):
        own_system(f"{file}:Lock")


@pytest.mark.parametrize("parts", [300, 2000])
def test_a_sum_may_have_many_parts(tmp_path: Path, parts: int) -> None:
    body = "require(" + " | ".join(["self.held[who]"] * 300) + ")\nself.owner = who"
    file = written(tmp_path, body)
    file.write_text(file.read_text() + f"\n\nX = {' + '.join(['1'] * parts)}\n")
    assert own_system(f"{file}:Lock").kinds == {"User": 2}


def test_a_field_of_a_record_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "r.py"
    file.write_text(
        "from podrace.model.language import Record, System, boolean, invariant, record, step\n\n\n"
        "class Pair(Record):\n    a = boolean()\n    b = boolean()\n\n\n"
        "class Two(System):\n    pair = record(Pair)\n\n"
        "    @step(actor='x')\n    def turn(self) -> None:\n        self.pair.a = True\n\n"
        "    @invariant\n    def one(self) -> object:\n"
        "        return ~(getattr(self.pair, 'a') & getattr(self.pair, 'b'))\n"
    )
    assert list(own_system(f"{file}:Two").system.invariants) == ["one"]
