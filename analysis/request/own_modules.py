"""Python files of the user's, executed from their text. What Python compiled of them earlier is neither read nor written: it
knows a file by its size and the second of its last change, and so takes some edits for the old text.
"""

import ast
import builtins
import gc
import hashlib
import linecache
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from zlib import crc32

from ... import patching
from ...base.text import one_line
from ...checker.core import in_memory
from ...model.language.declarations.shapes import Shape
from ...model.language.expressions.errors import ModelError
from ...model.language.own_systems.asking import MARK
from ...model.language.own_systems.hearing import HEARD, OPERATOR, hearing, name_of_code
from .own_code import PREFIX, error_in_words, theirs, what_it_changed
from .pitfalls import Pitfall, States, endless_loops_of, pitfalls_of

MISTAKE = ModelError
"""What the modelling language finds wrong in code of the user's."""

ProblemOf = Callable[[Path, str], Exception]
"""Makes the error from the file and from what is wrong with it."""

_NOT_THERE = re.compile(r"cannot import name '(\w+)'")

_folders: dict[str, Path] = {}
_sources: dict[str, dict[str, str]] = {}
"""Of each file that was executed, by the name of its module: its folder, and the digests of all that it is made of."""


def load_module(path: Path, problem: ProblemOf) -> ModuleType:
    """Execute a file and give its module; its import statements find the modules of its own folder. Raises what `problem` makes."""
    if not path.is_file():
        raise problem(path, "this is a directory: name a file" if path.is_dir() else "there is no such file")
    if path.suffix != ".py":
        raise problem(path, "this is no Python file: its name must end in .py")
    name = f"{PREFIX}{path.stem}_{crc32(str(path.resolve()).encode()):08x}"
    for old in [old for old in sys.modules if old == name or old.startswith(f"{name}.")]:
        del sys.modules[old]
    _folders[name], _sources[name] = path.parent, {}
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    spec = _spec(name, path, [str(path.parent)])
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        assert spec.loader is not None
        with theirs():
            spec.loader.exec_module(module)
    except SyntaxError as error:
        elsewhere = "" if error.filename in (None, str(path)) else f"{one_line(str(error.filename), 200)}: "
        line = "" if error.lineno is None else f"line {error.lineno}: "
        raise problem(path, f"{elsewhere}{line}{error.msg}") from error
    except ModelError as error:
        raise problem(path, _declared_wrongly(path, error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        what = f"{at_line(path, error)}{error_in_words(error)}"
        raise problem(path, what + _where_to_import_from(error)) from error
    finally:
        changed = what_it_changed()
    if changed:
        raise problem(path, changed)
    return module


def sources_of(cls: type) -> Mapping[str, str]:
    """The digests of the user's files that a class is made of, by their names; none for a class of podrace's own."""
    return dict(_sources.get(cls.__module__.partition(".")[0], {}))


def digest_of(classes: Sequence[type]) -> str:
    """One digest of all files of the user's that these classes are made of; empty if there are none."""
    found = sorted({item for cls in classes for item in sources_of(cls).items()})
    return hashlib.sha256(repr(found).encode()).hexdigest() if found else ""


def at_line(path: Path, error: BaseException) -> str:
    """For example `line 7: `, for the last line of the file that took part in an error; empty if none did."""
    found, at = None, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == str(path):
            found = at.tb_lineno
        at = at.tb_next
    return "" if found is None else f"line {found}: "


def _declared_wrongly(path: Path, error: ModelError) -> str:
    """A mistake in a declaration, with its line; and with its file, if that is another than the one that was named."""
    file, line = error.location
    place = f"line {line}: " if file == str(path) else f"{at_line(path, error)}{file}:{line}: "
    return one_line(place + error.message, 500)


def _where_to_import_from(error: BaseException) -> str:
    """A remedy for what the file imports of podrace and podrace does not have there."""
    if not isinstance(error, ImportError) or not (error.name or "").startswith("podrace."):
        return ""
    wanted = _NOT_THERE.search(str(error))
    if wanted is not None and wanted[1] in patching.__all__:
        return f"; {wanted[1]} is in {patching.__name__}"
    return "; the parts of the scheduler, their words, pods, nodes and expressions are in podrace.patching"


def states_of(module: ModuleType) -> States:
    """The names of the state that the classes declare which a module names, and those that they derive from."""
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    of_class = {
        name: {held for base in cls.__mro__ for held, value in vars(base).items() if isinstance(value, Shape)}
        for name, cls in classes.items()
    }
    computed = {
        name: {
            found
            for base in cls.__mro__
            for found, value in vars(base).items()
            if isinstance(value, property)
        }
        for name, cls in classes.items()
    }
    marked = {
        name: {
            found
            for found, value in vars(cls).items()
            if any(hasattr(value, mark) for mark in ("__podrace_step__", MARK))
        }
        for name, cls in classes.items()
    }
    return States(set().union(*of_class.values()), of_class, computed, marked)


def hear_class(cls: type) -> None:
    """Have the code of a class that a program gave ask as if its file had been loaded here. Raises SyntaxError for a pitfall in its text."""
    for base in cls.__mro__:
        module = sys.modules.get(base.__module__)
        if module is None or not _is_theirs(base.__module__, base.__module__):
            continue
        _hear([module, base], base.__module__, {})
        files = {one.__code__.co_filename for one in vars(base).values() if isinstance(one, FunctionType)}
        for file in sorted(files):
            own: list[ast.stmt] = [
                node
                for node in ast.parse(_text_of(file)).body
                if isinstance(node, ast.ClassDef) and node.name == base.__name__
            ]
            for line, what in pitfalls_of(ast.Module(own, []), states_of(module)):
                raise SyntaxError(what, (file, line, None, None))


_ASKING = {
    **{id(module): OPERATOR for module in (operator, sys.modules["_operator"])},
    **{id(vars(operator)[name]): vars(OPERATOR)[name] for name in ("is_", "is_not")},
}
"""What code of a program's finds in place of what it imported."""

_HOLD = (dict, list, tuple, set, property, staticmethod, classmethod, CellType, MethodType)


def _is_theirs(module: str, beside: str) -> bool:
    """Whether a module is the program's: not podrace's, nor Python's, nor installed, unless in the same package as the module `beside`."""
    top = module.partition(".")[0]
    if top in ("", "podrace", *_sources, *sys.stdlib_module_names):
        return False
    parts = {*Path(_file_of(module)).parts}
    return top == beside.partition(".")[0] or parts.isdisjoint(("site-packages", "dist-packages"))


def _file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _hear(first: Iterable[object], beside: str, seen: dict[int, object]) -> None:
    """Have what is the program's among these ask here, and what of its own they hold or name: also in properties, lists, objects, under decorators, and what functions import when they run.

    Raises SyntaxError for a function of Python's that would answer and cannot be replaced where it is kept.
    """
    codes: dict[str, dict[tuple[str, int], CodeType]] = {}
    todo = [(one, "") for one in first]
    while todo:
        one, file = todo.pop()
        if id(one) in seen:
            continue
        if id(one) in _ASKING:
            what = "`operator.is_` is kept here, where it would ask no symbol: call it by its name, or compare by `==`"
            raise SyntaxError(what, (*_place_of_is(file, beside), None, None))
        is_named = isinstance(one, (type, FunctionType, ModuleType))
        home = one.__name__ if isinstance(one, ModuleType) else (one if is_named else type(one)).__module__
        is_own = isinstance(one, _HOLD) or _is_theirs(str(home), beside)
        if not is_own and (is_named or home != "functools"):
            continue
        seen[id(one)] = one
        if isinstance(one, (FunctionType, ModuleType)):
            names = one.__globals__ if isinstance(one, FunctionType) else vars(one)
            names.update({name: _ASKING[id(value)] for name, value in names.items() if id(value) in _ASKING})
        if isinstance(one, FunctionType):
            old, file = one.__code__, one.__code__.co_filename
            name = name_of_code(file, str(one.__globals__.get("__name__")))
            if name not in codes:
                codes[name] = _heard_in(file, name)
            new = codes[name].get((old.co_qualname, old.co_firstlineno), old)
            if new.co_freevars == old.co_freevars:
                one.__code__ = new
            also = {_ALSO: lambda *more: _hear(more, beside, seen)}
            one.__globals__.update(
                {n: how for n, how in {**HEARD, **also}.items() if n not in one.__globals__}
            )
        elif is_named:
            file = _file_of(str(home)) or file
        held = vars(one).values() if isinstance(one, (type, ModuleType)) else gc.get_referents(one)
        todo += [(other, file) for other in held]


def _place_of_is(file: str, beside: str) -> tuple[str, int]:
    """Where this file, or else another of the program's, first names a function that does what `is` does, and does not call it."""
    others = (_file_of(name) for name in [*sys.modules] if _is_theirs(name, beside))
    for one in filter(None, (file, *others)):
        nodes = [*ast.walk(ast.parse(_text_of(one)))]
        called = {node.func for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            if node not in called and isinstance(node, (ast.Name, ast.Attribute)):
                if (node.attr if isinstance(node, ast.Attribute) else node.id) in ("is_", "is_not"):
                    return one, node.lineno
    return file, 1


_ALSO = "__podrace_also__"


class _ImportsToo(ast.NodeTransformer):
    """What an import statement of a function brings is heard."""

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> Any:
        names = [ast.Name(name.asname or name.name.partition(".")[0], ast.Load()) for name in node.names]
        call = ast.Expr(ast.Call(ast.Name(_ALSO, ast.Load()), [*names], []))
        return [node, ast.fix_missing_locations(ast.copy_location(call, node))] if node.col_offset else node

    visit_ImportFrom = visit_Import


def _text_of(file: str) -> str:
    return "".join(linecache.getlines(file))


def _heard_in(file: str, name: str) -> dict[tuple[str, int], CodeType]:
    """The code of a file that asks here, by its name and line."""
    tree = hearing(_ImportsToo().visit(ast.parse(_text_of(file))), name)
    heard = compile(tree, file, "exec", dont_inherit=True)
    return {(code.co_qualname, code.co_firstlineno): code for code in _codes_in(heard)}


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes_in(inner)


class _FromSource(SourceFileLoader):
    """Compiles what it reads, and notes its digest."""

    def get_code(self, fullname: str) -> Any:
        """The code of the file as it is now."""
        data = self.get_data(self.path)
        top, _, rest = fullname.partition(".")
        digest = _sources[top][rest or Path(self.path).name] = hashlib.sha256(data).hexdigest()
        in_memory.note(f"{top} {rest}", digest)
        linecache.cache.pop(self.path, None)  # it, too, goes by time and size
        return compile(hearing(ast.parse(data, self.path), self.path), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Execute the file; its import statements look into the folder first."""
        top = module.__name__.partition(".")[0]
        module.__dict__["__builtins__"] = {**vars(builtins), **HEARD, "__import__": _importing_from(top)}
        with _deep():
            self._refuse(endless_loops_of(self._tree()))  # first, for what is no method of a class runs now
            super().exec_module(module)
            self._refuse(pitfalls_of(self._tree(), states_of(module)))

    def _tree(self) -> ast.Module:
        return ast.parse(self.get_data(self.path), self.path)

    def _refuse(self, pitfalls: Iterable[Pitfall]) -> None:
        for line, what in pitfalls:
            raise SyntaxError(what, (self.path, line, None, None))


@contextmanager
def _deep() -> Iterator[None]:
    """A sum may have as many parts as Python itself reads of one."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 4000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _Finder:
    """Finds the modules that files import from their own folders: below the name of the file's module, so that files of
    different folders never share one.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As importlib asks."""
        top, _, last = fullname.rpartition(".")
        if path is None or top.partition(".")[0] not in _folders:
            return None
        for folder in path:
            inner = Path(folder, last)
            if (inner / "__init__.py").is_file():
                return _spec(fullname, inner / "__init__.py", [str(inner)])
            if inner.with_name(f"{last}.py").is_file():
                return _spec(fullname, inner.with_name(f"{last}.py"))
        # Others would look there, too, and take what was compiled.
        raise ModuleNotFoundError(f"No module named {last!r}", name=last)


_FINDER = _Finder()


def _spec(name: str, path: Path, inside: list[str] | None = None) -> ModuleSpec:
    loader = _FromSource(name, str(path))
    spec = spec_from_file_location(name, path, loader=loader, submodule_search_locations=inside)
    assert spec is not None
    spec.cached = None
    return spec


def _importing_from(top: str) -> Callable[..., ModuleType]:
    """What an import statement calls in the modules of this file."""

    def importing(
        name: str,
        globals_: Mapping[str, object] | None = None,
        locals_: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        first = name.partition(".")[0]
        if name == "operator" and not level:
            return OPERATOR
        if level or not _is_beside(first, _folders[top]):
            return builtins.__import__(name, globals_, locals_, fromlist or (), level)
        found = builtins.__import__(f"{top}.{name}", globals_, locals_, fromlist or (), 0)
        return found if fromlist else sys.modules[f"{top}.{first}"]

    return importing


def _is_beside(name: str, folder: Path) -> bool:
    if name == "podrace" or name in sys.stdlib_module_names:
        return False
    return (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file()
