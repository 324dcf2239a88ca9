"""Sets of changes that explain a violation: on small questions by hand, the reduction by law."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podrace.model.history import resolve
from tests.survey.clusters import bound, disturbed, waiting
from tests.survey.explaining import Explainer, smallest
from tests.survey.finding import Found, decide


def found(release: str, property_id: str, fault: str, cluster: object) -> Found:
    spec = disturbed(cluster, fault)  # type: ignore[arg-type]
    return Found(release, property_id, fault, spec, decide(spec, resolve(release), property_id))


@given(st.sets(st.integers(0, 19), min_size=1), st.integers(1, 20))
def test_what_is_left_is_needed(needed: set[int], size: int) -> None:
    candidates = tuple(range(max(size, *needed, 0) + 1))
    assert set(smallest(candidates, lambda chosen: needed <= set(chosen))) == needed


@given(st.sets(st.frozensets(st.integers(0, 7), min_size=1), min_size=1))
def test_none_of_what_is_left_can_go(enough: set[frozenset[int]]) -> None:
    def suffices(chosen: tuple[int, ...]) -> bool:
        return any(some <= set(chosen) for some in enough)

    left = smallest(tuple(range(8)), suffices)
    assert suffices(left)
    assert not any(suffices(tuple(k for k in left if k != member)) for member in left)


def test_a_known_race_is_explained_by_its_fix() -> None:
    seen = found("1.34", "S-ROOM", "pod deletion", waiting(1))
    assert Explainer("1.34").explain(seen) == ("134157",)


def test_a_hazard_is_explained_by_its_patch() -> None:
    seen = found("1.35", "S-CAP", "lost reply", waiting(1, 2))
    assert Explainer("1.35").explain(seen) == ("AskedBeforeForgotten",)


def test_what_worked_elsewhere_is_tried_first_and_nothing_superfluous_is_kept() -> None:
    seen = found("1.35", "S-CAP", "lost reply", waiting(1, 2))
    explainer = Explainer("1.35", {"S-CAP": [("Fenced", "AskedBeforeForgotten")]})
    assert explainer.explain(seen) == ("AskedBeforeForgotten",)
    assert explainer.successes["S-CAP"] == [("AskedBeforeForgotten",), ("Fenced", "AskedBeforeForgotten")]


def test_what_the_scheduler_cannot_prevent_is_not_explained() -> None:
    seen = found("1.35", "S-BIND", "external binding", bound(1, 2))
    explainer = Explainer("1.35", hopeless={("S-BIND", "external binding")})
    assert explainer.explain(seen) is None
