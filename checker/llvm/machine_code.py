"""LLVM text to machine code in this process, with the object code kept on disk between runs.

What is kept is executed, and decides verdicts. So it is signed together with what it is the code of (`core.signing`): code that
somebody else wrote, and code of ours in another's place, is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import cache
from itertools import count
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from ..core.kept import cache_directory
from ..core.signing import is_private, is_signed, make_private, signature

_MAGIC = b"podrace object 3\n"
_SIGNATURE = 32
_USE = "object code"
_serial = count()

FUNCTIONS = ("expand", "check", "recovered", "observed")
"""The functions of a system, as `codegen.program` describes them."""


class MachineCode:
    """Functions in machine code, by name. The addresses are valid as long as this object lives."""

    def __init__(self, object_codes: Iterable[bytes], names: Iterable[str], from_cache: bool) -> None:
        self.from_cache = from_cache
        builder = llvm.JITLibraryBuilder()
        for object_code in object_codes:
            builder.add_object_img(object_code)
        for name in names:
            builder.export_symbol(name)
        self._library = builder.link(_linker(), f"podrace{next(_serial)}")

    def __getitem__(self, name: str) -> int:
        """The address of a function."""
        return int(self._library[name])

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


class OptimisationLevel(IntEnum):
    """How well LLVM compiles; the values are the levels of its code generator."""

    NONE = 0
    """For functions of a system that are large and that vectors make quick: better code would not show."""
    LESS = 1
    """For the other functions of systems. A search is a sixth quicker than without; the passes of -O2 would add nothing to that."""
    DEFAULT = 2
    """For the loops that all searches share, with the passes of -O2."""


LARGE = "\n; functions that are compiled by themselves, without optimisation\n"
"""Between the two parts of a system's module: each declares what it calls of the other."""


def compile_system(ir: str) -> MachineCode:
    """Machine code for the module of a system, compiled unless an earlier run left it in the cache.

    A cache that cannot be read, written or trusted is passed over in silence.
    """
    path = _place(ir)
    stored = _read(path)
    if stored is not None:
        size = int.from_bytes(stored[:4], "little")
        parts = (stored[4 : 4 + size], stored[4 + size :])
        return MachineCode(filter(None, parts), FUNCTIONS, from_cache=True)
    own, _, large = ir.partition(LARGE)
    made = _object_code(own, OptimisationLevel.LESS)
    rest = _object_code(large, OptimisationLevel.NONE) if large else b""
    _write(path, len(made).to_bytes(4, "little") + made + rest)
    return MachineCode(filter(None, (made, rest)), FUNCTIONS, from_cache=False)


def compile_kernel(described: str, make: Callable[[], tuple[str, str]], name: str) -> tuple[MachineCode, str]:
    """Machine code of a function whose text is a matter of its description, with a note that is kept beside it.

    Unless the cache has both, `make` gives the text and the note, and LLVM's passes run over the text.
    """
    path = _place(described)
    stored = _read(path)
    if stored is not None:
        size = int.from_bytes(stored[:4], "little")
        return MachineCode((stored[4 + size :],), (name,), from_cache=True), stored[4 : 4 + size].decode()
    text, note = make()
    made = _object_code(text, OptimisationLevel.DEFAULT)
    encoded = note.encode()
    _write(path, len(encoded).to_bytes(4, "little") + encoded + made)
    return MachineCode((made,), (name,), from_cache=False), note


def _place(text: str) -> Path:
    """Where object code is kept: another place whenever it may differ."""
    parts = [text, llvmlite.__version__, *map(str, llvm.llvm_version_info), *_cpu()]
    return cache_directory() / "objects" / hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read(path: Path) -> bytes | None:
    try:
        if not _is_ours(path):
            return None
        content = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _SIGNATURE
    magic, signed, code = content[: len(_MAGIC)], content[len(_MAGIC) : start], content[start:]
    # The name says what it is the code of: it is a digest of the text, of the compiler and of the processor.
    if magic != _MAGIC or not is_signed(signed, _USE, path.name.encode(), code):
        return None
    return code


def _write(path: Path, code: bytes) -> None:
    # Written beside its place and renamed: another process sees all of it or nothing.
    signed = signature(_USE, path.name.encode(), code)
    if signed is None or not _is_ours(path):
        return
    with contextlib.suppress(OSError):
        make_private(path.parents[1])
        make_private(path.parent)
        handle, draft = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + signed + code)
            os.replace(draft, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


def _is_ours(path: Path) -> bool:
    return is_private(path.parents[1]) and is_private(path.parent)


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


def _object_code(ir: str, level: OptimisationLevel) -> bytes:
    machine = _target_machine(level)
    module = llvm.parse_assembly(ir)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    if level > OptimisationLevel.LESS:
        tuning = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
