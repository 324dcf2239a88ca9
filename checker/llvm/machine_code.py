"""LLVM text to machine code in this process, with the object code kept on disk between runs."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import cache
from itertools import count
from pathlib import Path
from threading import Thread

import llvmlite
import llvmlite.binding as llvm

_MAGIC = b"podrace object 1\n"
_DIGEST = 32
_serial = count()


def cache_directory() -> Path:
    """Where compiled code is kept: $PODRACE_CACHE, else podrace in $XDG_CACHE_HOME, else ~/.cache/podrace."""
    if own := os.environ.get("PODRACE_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "podrace"
    return Path(os.path.expanduser("~")) / ".cache" / "podrace"


class Functions(ABC):
    """Functions in machine code, by name."""

    @abstractmethod
    def __getitem__(self, name: str) -> int:
        """The address of a function."""

    @property
    def expand(self) -> int:
        """The address of `expand`."""
        return self["expand"]

    @property
    def check(self) -> int:
        """The address of `check`."""
        return self["check"]

    @property
    def recovered(self) -> int:
        """The address of `recovered`."""
        return self["recovered"]

    @property
    def observed(self) -> int:
        """The address of `observed`."""
        return self["observed"]


class Code(Functions):
    """Machine code in memory. The addresses are valid as long as this object lives."""

    def __init__(self, object_code: bytes, names: Iterable[str], from_cache: bool) -> None:
        self.from_cache = from_cache
        builder = llvm.JITLibraryBuilder().add_object_img(object_code)
        for name in names:
            builder.export_symbol(name)
        self._library = builder.link(_linker(), f"podrace{next(_serial)}")

    def __getitem__(self, name: str) -> int:
        return int(self._library[name])


SEARCH = ("expand", "check", "recovered", "observed")
"""The functions of a `Program`."""


class OptimisationLevel(IntEnum):
    """How well LLVM's code generator works; the values are its own."""

    NONE = 0
    """Takes a fourth of the time, for code that takes half as long again."""
    DEFAULT = 2


def compile_ir(
    ir: str, names: Iterable[str] = SEARCH, level: OptimisationLevel = OptimisationLevel.DEFAULT
) -> Code:
    """Machine code for a module that defines these functions, compiled unless an earlier run left it in the cache.

    Code of a higher level than was asked for is as good. A cache that cannot be read, written or
    trusted is passed over in silence.
    """
    paths = {each: _place(f"{each.name} {ir}") for each in OptimisationLevel if each >= level}
    for path in reversed(paths.values()):
        stored = _read(path)
        if stored is not None:
            return Code(stored, names, from_cache=True)
    made = _object_code(ir, level)
    _write(paths[level], made)
    return Code(made, names, from_cache=False)


def compile_kept(described: str, make: Callable[[], tuple[str, str]], name: str) -> tuple[Code, str]:
    """Machine code of a function whose text is a matter of its description, with a note that is kept beside it.

    Unless the cache has both, `make` gives the text and the note, and LLVM's passes run over the text.
    """
    path = _place(described)
    stored = _read(path)
    if stored is not None:
        size = int.from_bytes(stored[:4], "little")
        return Code(stored[4 + size :], (name,), from_cache=True), stored[4 : 4 + size].decode()
    text, note = make()
    made = _object_code(text, OptimisationLevel.DEFAULT, passes=True)
    encoded = note.encode()
    _write(path, len(encoded).to_bytes(4, "little") + encoded + made)
    return Code(made, (name,), from_cache=False), note


def _place(text: str) -> Path:
    """Where object code is kept: another place whenever it may differ."""
    parts = [text, llvmlite.__version__, *map(str, llvm.llvm_version_info), *_cpu()]
    return cache_directory() / "objects" / hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    magic, digest, code = content[: len(_MAGIC)], content[len(_MAGIC) : start], content[start:]
    if magic != _MAGIC or digest != hashlib.sha256(code).digest():
        return None
    return code


def _write(path: Path, code: bytes) -> None:
    # Written beside its place and renamed: another process sees all of it or nothing.
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(code).digest() + code)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


@cache
def _cpu() -> tuple[str, str, str]:
    """Triple, name and features of the processor that the code is for."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_machine(level: OptimisationLevel) -> llvm.TargetMachine:
    triple, name, features = _cpu()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=name, features=features, opt=int(level), reloc="pic", jit=True)


@cache
def _linker() -> llvm.LLJIT:
    _cpu()
    return llvm.create_lljit_compiler()


def _object_code(ir: str, level: OptimisationLevel, passes: bool = False) -> bytes:
    machine = _target_machine(level)
    module = llvm.parse_assembly(ir)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    if passes:
        tuning = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    # Otherwise no passes: the code of systems comes with shared nodes, placed where they are needed, and LLVM's pipelines gain
    # at most a tenth in the expansion of states for two to three times the time to the first answer.
    return bytes(machine.emit_object(module))


class Tiers(Functions):
    """The code of one search: without optimisation at first, until `improve` has replaced it by optimised code.

    An address stays valid as long as this object lives, so whoever keeps one loses nothing but time.
    """

    def __init__(self, ir: str) -> None:
        self._ir = ir
        self._codes: list[Code] = [compile_ir(ir, level=OptimisationLevel.NONE)]
        self._better: Thread | None = None

    def __getitem__(self, name: str) -> int:
        return self._codes[-1][name]

    def improve(self) -> None:
        """Begin to compile with optimisation, beside the search; once is enough."""
        if self._better is None:
            self._better = Thread(target=self._compile, name="podrace-compiler")
            self._better.start()

    def wait(self) -> None:
        """Wait until the better code is there, if it was begun."""
        if self._better is not None:
            self._better.join()

    def _compile(self) -> None:
        self._codes.append(compile_ir(self._ir))
