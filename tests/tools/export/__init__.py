"""Transition systems written in the languages of other checkers, so that those can check podrace.

`to_promela` writes for SPIN, `to_tlaplus` for TLC. Both keep names, types, initial values, steps and constraints, and
state each invariant; a search by either, SPIN's without its reduction, visits exactly as many states as `native.explore`.
"""

from .promela import to_promela
from .tlaplus import Module, to_tlaplus

__all__ = ["Module", "to_promela", "to_tlaplus"]
