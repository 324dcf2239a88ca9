"""LLVM text to machine code in this process, with the object code kept on disk between runs.

What is kept is executed, and decides verdicts. So it is signed together with what it is the code of (`core.signing`): code that
somebody else wrote, and code of ours in another's place, is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ...base.files import write_whole
from ..core.in_memory import may_keep
from ..core.kept import cache_directory
from ..core.signing import is_private, is_signed, make_private, signature

_MAGIC = b"podrace object 3\n"
_SIGNATURE = 32
_USE = "object code"
_serial = count()

FUNCTIONS = ("expand", "enabled", "moved", "check", "recovered", "observed")
"""The functions of a system, as `codegen.program` describes them."""


def _address(name: str) -> Any:
    """The address of a function, as a property."""
    return property(lambda code: code[name])


class MachineCode:
    """Functions in machine code, by name. The addresses are valid as long as this object lives."""

    def __init__(
        self,
        object_codes: Iterable[bytes],
        names: Iterable[str],
        from_cache: bool,
        better: Callable[[], MachineCode] | None = None,
        improving_takes: float = 0.0,
    ) -> None:
        """`better` makes the same, optimised, in about `improving_takes` seconds."""
        self.from_cache, self._better, self._improving_takes = from_cache, better, improving_takes
        builder = llvm.JITLibraryBuilder()
        for object_code in filter(None, object_codes):
            builder.add_object_img(object_code)
        for name in names:
            builder.export_symbol(name)
        self._library = builder.link(_linker(), f"podrace{next(_serial)}")

    def __getitem__(self, name: str) -> int:
        """The address of a function."""
        return int(self._library[name])

    def pays_after(self, transitions: int, seconds: float) -> bool:
        """Whether a search that has seen so many transitions, and taken as long, should have it improved: not before it has taken as long as that takes."""
        return transitions > (AGAIN if self.from_cache else FIRST) and seconds > self._improving_takes

    def improve(self) -> None:
        """Have optimised code from now on, if it is not; addresses that were given out before stay valid."""
        if self._better is not None:
            better, self._better = self._better(), None
            self._earlier, self._library = self._library, better._library

    expand, enabled, moved, check, recovered, observed = map(_address, FUNCTIONS)


class OptimisationLevel(IntEnum):
    """How well LLVM compiles; the values are the levels of its code generator."""

    NONE = 0
    """For functions of a system that are large and that vectors make quick: better code would not show."""
    LESS = 1
    """For the other functions of systems, where a search lasts: it is a sixth quicker than without, and compiling takes four times as long. The passes of -O2
    would add nothing to that."""
    DEFAULT = 2
    """For the loops that all searches share, with the passes of -O2."""


LARGE = "\n; functions that are compiled by themselves, without optimisation\n"
"""Between the two parts of a system's module: each declares what it calls of the other."""


FIRST, AGAIN = 1 << 26, 1 << 21
"""After so many transitions, code that was compiled soon is improved. The first search of a system is improved late: better code makes it some tenth quicker, and to compile that
takes as long as 10 to 60 million transitions do. Where an earlier search has left its code, early: what is searched again will be searched more often, and better code is kept."""


_OPTIMISING = 1.5e-6
"""Seconds for each character that is optimised, about: 1.2 to 1.6 measured, of systems with 20 to 300 transitions."""


def compile_system(ir: str, soon: bool = False) -> MachineCode:
    """Machine code for the module of a system, compiled unless an earlier run left it in the cache.

    With `soon`, code that is not optimised unless the cache has it, until it is told to `improve`. A cache that cannot be read, written or trusted is
    passed over in silence.
    """
    kept = _kept(_place(ir))
    if kept is not None:
        return MachineCode(kept, FUNCTIONS, from_cache=True)
    own, _, large = ir.partition(LARGE)
    if not soon:
        made = _object_code(own, OptimisationLevel.LESS), _unoptimised(large)
        return _keep(_place(ir), made)
    place = _place("soon\n" + ir)
    kept = _kept(place)
    made = kept or (_unoptimised(own), _unoptimised(large))

    def better() -> MachineCode:
        return _keep(_place(ir), (_object_code(own, OptimisationLevel.LESS), made[1]))

    takes = _OPTIMISING * len(own)
    if kept:
        return MachineCode(kept, FUNCTIONS, True, better, takes)
    return _keep(place, made, better, takes)


Parts = tuple[bytes, bytes]
"""Object code of a system: of what is optimised where a search lasts, and of the rest (empty if there is none)."""


def _kept(path: Path) -> Parts | None:
    stored = _read(path)
    if stored is None:
        return None
    size = int.from_bytes(stored[:4], "little")
    return stored[4 : 4 + size], stored[4 + size :]


def _keep(
    path: Path, made: Parts, better: Callable[[], MachineCode] | None = None, takes: float = 0.0
) -> MachineCode:
    _write(path, len(made[0]).to_bytes(4, "little") + made[0] + made[1])
    return MachineCode(made, FUNCTIONS, False, better, takes)


def _unoptimised(ir: str) -> bytes:
    return _object_code(ir, OptimisationLevel.NONE) if ir else b""


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
    signed = signature(_USE, path.name.encode(), code)
    if signed is None or not _is_ours(path) or not may_keep():
        return
    with contextlib.suppress(OSError):
        make_private(path.parents[1])
        make_private(path.parent)
        write_whole(path, _MAGIC + signed + code, mode=0o600, durable=False)


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
        # These take half the time of compiling, and the loops are no quicker for it.
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
