"""Words that are no free names in the other languages."""

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
