-------------------- MODULE crossing --------------------
\* Cars.
\*
\* At a light.
EXTENDS Integers

VARIABLES
    light_now,  \* light.now
    queue_1,  \* queue[1]
    queue_1_2,  \* queue.1
    horn,
    balance

light_vars == <<light_now>>
queue_1_vars == <<queue_1>>
queue_vars == <<queue_1_2>>
horn_vars == <<horn>>
balance_vars == <<balance>>
vars == <<light_vars, queue_1_vars, queue_vars, horn_vars, balance_vars>>

Type ==
    /\ light_now \in {"RED", "GREEN"}
    /\ queue_1 \in {"none", "a-1", "b"}
    /\ queue_1_2 \in {"none", "a-1", "b"}
    /\ horn \in BOOLEAN
    /\ balance \in (-4)..(3)

Init ==
    /\ light_now = "RED"
    /\ queue_1 = "a-1"
    /\ queue_1_2 = "b"
    /\ horn = FALSE
    /\ balance = (-3)

\* cars.swap(car=a-1, light=GREEN): The cars change places */ at once.
cars_swap_a_1_GREEN ==
    /\ light_now = "GREEN"
    /\ queue_1 # "none"
    \* constraint: at most 3
    /\ balance < 3
    /\ queue_1' = queue_1_2
    /\ queue_1_2' = queue_1
    /\ balance' = balance + 1
    /\ UNCHANGED <<light_vars, horn_vars>>

\* lights.switch()
lights_switch ==
    /\ light_now' = (IF (light_now = "GREEN") THEN "RED" ELSE "GREEN")
    /\ balance' = (IF ((balance \div 2) < (-1)) THEN ((balance \div 2) + 1) ELSE (balance \div 2))
    /\ horn' = ((light_now = "GREEN") \/ horn)
    /\ UNCHANGED <<queue_1_vars, queue_vars>>

Next ==
    \/ cars_swap_a_1_GREEN
    \/ lights_switch

Spec == Init /\ [][Next]_vars

\* invariant: S-HORN
S_HORN == ~horn

\* invariant: 2nd
invariant_2nd == (balance < 3)

\* witness: b first
b_first == (queue_1 = "b")

========================================================
