"""Words that are no free names in the other languages.

Legal names in another language: close to the model's own, and never two things with one name.
The names of enum members and of references, as constants of another language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from podrace.model.language import Entity, Sort, Transition, TransitionSystem, topological

# Keywords and predefined names of Promela, keywords of C and names of SPIN's generated verifier, because SPIN
# writes the model's names into a C program, and what every exported model uses itself.
_PROMELA = """
_m active asm assert atomic auto bit bool boq break byte c_code c_decl c_expr c_state c_track case
chan char const continue d_proctype d_step default depth depthfound do double else empty enabled
enum errors eval extern false fi float floor_div for full get_p goto hidden hmax if II in init
inline int len local long ltl M main mreached mtype N nempty never nfull notrace now np_
nstates od of ot P0 pan pc_value pid print printf printm priority proctab proctype provided register
restrict return run select set_p short show signed sizeof skip static STDIN struct switch system t
this timeout trace trpt true truncs tt typedef typeof uchar uint union unless unsigned ushort void
volatile while xr xs
"""

# Keywords of TLA+, what the module Integers defines, and what every exported module uses itself.
_TLAPLUS = """
ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS
DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN Init INSTANCE Int Integers LAMBDA LEMMA LET
LOCAL MODULE Nat Naturals NEW Next OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED Real
Reals RECURSIVE SF_ Spec STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE Type UNCHANGED
UNION USE VARIABLE VARIABLES vars WF_ WITH WITNESS
"""

PROMELA = frozenset(_PROMELA.split())
TLAPLUS = frozenset(_TLAPLUS.split())


class Names:
    """Hands out identifiers of letters, digits and underscores; `reserved` ones are never given to anyone."""

    def __init__(self, reserved: Iterable[str]) -> None:
        self._taken = set(reserved)

    def new(self, text: str) -> str:
        """A name that nobody has yet: `text` where it is legal and free, else close to it."""
        plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
        if not plain or not plain[0].isalpha():
            plain = f"x_{plain}".rstrip("_")
        name, number = plain, 1
        while name in self._taken:
            number += 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name


def words_of(transition: Transition) -> str:
    """What names a transition: part, step and the values of its arguments."""
    values = (str(getattr(value, "name", value)) for _, value in transition.args)
    return " ".join((transition.part, transition.step, *values))


def remark(transition: Transition) -> str:
    """The transition's label and the first line of its documentation."""
    first = transition.doc.strip().partition("\n")[0]
    return f"{transition.label}: {first}" if first else transition.label


class Constants:
    """One constant per member of each enum and per entity of each kind that the system mentions."""

    def __init__(self, system: TransitionSystem, names: Names) -> None:
        self._of: dict[Sort, dict[int, str]] = {}
        sorts = dict.fromkeys(v.sort for v in system.variables)
        sorts.update(dict.fromkeys(node.sort for node in topological(system.roots())))
        for sort in sorts:
            if sort.tag is not None:
                words = member_words(system, sort)
                self._of[sort] = {
                    code: names.new(f"{sort.tag.__name__} {word}") for code, word in enumerate(words)
                }

    def name(self, sort: Sort, code: int) -> str:
        """The constant for a code; of an int, its digits."""
        return str(code) if sort.tag is None else self._of[sort][code]

    def members(self) -> Iterator[tuple[Sort, list[tuple[int, str]]]]:
        """Each sort with its codes and names."""
        for sort, table in self._of.items():
            yield sort, list(table.items())


def member_words(system: TransitionSystem, sort: Sort) -> list[str]:
    """What the model calls each code of an enum or of references, in order."""
    tag = sort.tag
    assert tag is not None
    if issubclass(tag, Enum):
        return [member.name for member in tag]
    assert issubclass(tag, Entity)
    return ["none", *(entity.name for entity in system.universe[tag])]
