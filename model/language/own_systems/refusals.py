"""What is refused of a class of one's own: what Python takes, and what nothing would come of, or something else than it says."""

import inspect
from functools import cached_property

from ..declarations.component import Component, Model
from ..declarations.shapes import Shape, declared
from ..expressions.errors import ModelError
from ..expressions.graph import topological
from ..systems.system import TransitionSystem
from .asking import MARK, kinds_of, line_of, place_of


def refuse_what_only_parts_have(root: type[Model]) -> None:
    """Refuse anything in a Model except parts, because nothing would read it."""
    for base in root.__mro__:
        if base in (Model, object):
            continue
        for name, thing in vars(base).items():
            marked = hasattr(thing, "__podrace_step__") or hasattr(thing, MARK) or name == "setup"
            if marked or isinstance(thing, Shape):
                raise ModelError(
                    f"`{name}` stands in the Model {base.__name__}, which only names parts: write it into one of these, "
                    "or into a Component of its own, which sees the others by their names",
                    line_of(thing) if inspect.isfunction(thing) else place_of(base),
                )


def refuse_what_nothing_comes_of(cls: type[Component]) -> None:
    """Refuse classes that Python accepts, but that cannot be built, or that would mean something else."""
    if "__dataclass_fields__" in vars(cls):
        raise ModelError(
            f"{cls.__name__} is a dataclass: take `@dataclass` away, its state is declared", place_of(cls)
        )
    for name in declared(cls):
        if name in _OF_THE_LANGUAGE:
            raise ModelError(
                f"`{name}` of {cls.__name__} is a name of the language itself: give the state another",
                place_of(cls),
            )
    for base in cls.__mro__:
        for name, thing in vars(base).items():
            if isinstance(thing, cached_property) or hasattr(thing, "cache_info"):
                raise ModelError(
                    f"`{name}` of {base.__name__} is computed once, and state changes: write `@property`, or nothing",
                    place_of(base),
                )
    code = getattr(cls.setup, "__code__", None)
    if code is not None and code.co_argcount - len(cls.setup.__defaults__ or ()) > 1:
        raise ModelError(
            "`setup` has one parameter, `self`: loop over `self.universe[Kind]` for each entity",
            line_of(cls.setup),
        )
    for kind in kinds_of([cls]):
        for name in declared(kind):
            raise ModelError(
                f"`{name}` is state, and stands in {kind.__name__}: write `{name} = per({kind.__name__}, ...)` into {cls.__name__}",
                place_of(kind),
            )


_OF_THE_LANGUAGE = (
    "universe", "setup", "observe", "explains", "read_field", "write_field", "phrases", "knowledge", "channels", "reads",
    "bookkeeping", "only_looks", "name",
)  # fmt: skip


WIDEST = 62
"""How many bits a number may have, beside its sign: engines compute with 64."""


def refuse_what_is_too_wide(system: TransitionSystem, root: type) -> None:
    """Variables and what is computed of them, where a number might not fit."""
    for v in system.variables:
        if not -(2**WIDEST) <= v.lo <= v.hi < 2**WIDEST:
            raise ModelError(
                f"`{v.name}` ranges over {v.lo}..{v.hi}: numbers have up to {WIDEST} bits", place_of(root)
            )
    for e in topological(system.roots()):
        if not -(2**WIDEST) <= e.lo <= e.hi < 2**WIDEST:
            raise ModelError(
                f"this can be {e.lo}..{e.hi}: numbers have up to {WIDEST} bits, whatever a guard says. Give what it is computed of smaller ranges, or `clamp` it",
                e.location,
            )
