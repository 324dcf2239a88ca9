"""What a tour lets podrace say of the code: never more than what was taken."""

from __future__ import annotations

import msgspec
import pytest

from podrace.reports.text.tours_text import conclusion
from podrace.reports.tours import Tour

WHOLE = Tour(
    scenario="tiny", scheduler="v1.36.3", release="1.36.3", states=3, transitions=4, taken=4, within_lock=0, not_forced={},
    behind=0, differing=0, behind_differing=0, left=0, runs=1, steps=4, seconds=1.0,
)  # fmt: skip
CUT = msgspec.structs.replace(WHOLE, taken=2, not_forced={"failure.patch: cannot be held there": 1}, behind=1)
LEFT = msgspec.structs.replace(WHOLE, taken=3, left=1)


@pytest.mark.parametrize(
    ("tour", "holds", "violated", "said"),
    [
        (WHOLE, True, False, "HOLDS on the code of v1.36.3: it has taken every transition as the model does."),
        (CUT, True, False, "HOLDS on the code of v1.36.3: it has taken every transition as the model does, but for those named above."),
        (WHOLE, False, True, "The code of v1.36.3 has taken every transition as the model does; what is violated is violated there, too."),
        (CUT, False, True, ("The code of v1.36.3 has taken every transition as the model does, but for those named above; "
         "`podrace reproduce` says whether what is violated is violated there, too.")),
        (WHOLE, False, False, "The code of v1.36.3 has taken every transition as the model does; the model's verdict is open."),
        (LEFT, True, False, "The tour is not complete: of the rest of the transitions it says nothing."),
        (msgspec.structs.replace(WHOLE, bound="states"), True, False, "The tour is not complete: of the rest of the transitions it says nothing."),
    ],
)  # fmt: skip
def test_what_is_said_of_the_code(tour: Tour, holds: bool, violated: bool, said: str) -> None:
    assert conclusion(tour, holds, violated) == said
