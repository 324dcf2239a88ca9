"""What is kept of a cluster can test the properties that are checked of it, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.manifests import Representative, Size, read_manifests, represent
from podrace.manifests.telling.summary import account_of
from podrace.manifests.telling.untested import not_asked, why_untested
from tests.manifests.big_dump import NODES, ON_EACH, WAITING, crowded
from tests.manifests.manifest_objects import owned
from tests.manifests.test_representative import kept, node, pod, written


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("large") / "crowded.json"
    file.write_text(crowded())
    return str(file)


def test_the_size_that_is_recommended_has_room_for_a_rival(large: str) -> None:
    inventory = read_manifests([large])
    assert (len(inventory.nodes), len(inventory.bound), len(inventory.pending)) == (
        NODES,
        NODES * ON_EACH,
        WAITING,
    )
    with pytest.raises(Problem) as caught:
        represent(inventory)
    assert str(caught.value) == (
        "shop/wants-0 needs 3 pods out of its way on every node: allow --pods 5 or more, so that shop/wants-1 is kept, too, "
        "which may take the room, or choose another pod with --focus"
    )
    whole = represent(inventory, Size(5, 2))
    assert [p.name for p in whole.pods] == [
        "shop/wants-0",
        *(f"shop/batch-0-{i}" for i in range(3)),
        "shop/wants-1",
    ]
    assert why_untested(whole, "S-NOM", ("x",)) == "no run of the kept pods reaches a state in which x"
    without = represent(inventory, Size(4, 2))
    assert why_untested(without, "S-NOM", ("x",)) == (
        "no rival of shop/wants-0 is kept: --pods 5 keeps shop/wants-1, too"
    )
    found = [[p.name for p in represent(inventory, Size(most=most)).pods] for most in (4, 5, 6)]
    assert found == [[p.name for p in one.pods] for one in (without, whole, whole)]
    with pytest.raises(Problem, match="allow --pods 5 or more"):
        represent(inventory, Size(most=3))


def test_a_question_that_can_be_kept_with_its_rival_comes_first(tmp_path: Path) -> None:
    """`big` is more important, but has two to evict, and the three pods that may be kept would leave no rival."""
    some = [
        node("n1", "4"), pod("a", "2", 0, "n1"), pod("b", "2", 0, "n1"),
        node("n2", "2", zone="z"), pod("c", "2", 0, "n2"),
        pod("big", "4", 100), pod("bigger", "4", 100),
        *(pod(f"p{i}", "2", 50, nodeSelector={"zone": "z"}) for i in range(2)),
    ]  # fmt: skip
    assert [p.name for p in kept(tmp_path, *some).pods] == ["shop/p0", "shop/c", "shop/p1"]


def test_room_that_is_made_comes_before_room_that_is_there(tmp_path: Path) -> None:
    """Two pods that want the same free room test no nomination; a preemptor and what its victim's controller creates do."""
    batch = pod("v", "2", 0, "n1")
    batch["metadata"]["ownerReferences"] = owned("ReplicaSet", "v")
    some = [
        node("n1", "2", zone="a"), batch, node("n2", "3", zone="b"),
        pod("q1", "2", 100, nodeSelector={"zone": "b"}), pod("q2", "2", 100, nodeSelector={"zone": "b"}),
        pod("p", "2", 10, nodeSelector={"zone": "a"}),
    ]  # fmt: skip
    assert [p.name for p in kept(tmp_path, *some).pods] == ["shop/p", "shop/v", "shop/v-again"]


def reason(found: Representative) -> str:
    return why_untested(found, "S-NOM", ("nothing",))


def test_why_a_nomination_is_not_tested(tmp_path: Path) -> None:
    alone = kept(tmp_path, node("n1", "2"), pod("v", "2", 0, "n1"), pod("p", "2", 10))
    assert reason(alone) == "no other pod may take the room that shop/p makes on n1"
    fits = kept(tmp_path, node("n1", "2"), pod("p", "2", 10))
    assert reason(fits) == (
        "of the kept pods none is less important than another, so none can be evicted and no nomination made"
    )
    assert why_untested(fits, "S-CAP", ()) == "no step can happen"


def test_where_it_could_be_tested_is_said(tmp_path: Path) -> None:
    """p0 and p1 want the same free room; big and bigger would have to evict two each, for which three pods leave no room."""
    some = [
        node("n1", "4", zone="a"), pod("a", "2", 0, "n1"), pod("b", "2", 0, "n1"), node("n2", "2", zone="z"),
        *(pod(name, "4", 100, nodeSelector={"zone": "a"}) for name in ("big", "bigger")),
        *(pod(f"p{i}", "2", 50, nodeSelector={"zone": "z"}) for i in range(2)),
    ]  # fmt: skip
    assert reason(kept(tmp_path, *some, focus="shop/p0", pods=2)) == (
        "of the kept pods none is less important than another, so none can be evicted and no nomination made; "
        "--focus shop/big --pods 4 asks where it is"
    )
    assert reason(kept(tmp_path, *some)) == "no rival of shop/big is kept: --pods 4 keeps shop/bigger, too"


def test_what_is_not_checked_is_said(tmp_path: Path) -> None:
    found = kept(tmp_path, node("n1", "2"), pod("v", "2", 0, "n1"), pod("p", "2", 10))
    assert written(found)["properties"] == ["S-CAP", "S-NOM", "S-NOMVIS", "S-STUCK", "L-PLACE"]
    assert not_asked(found) == {
        "S-PDB": "no kept pod that could be evicted is protected by a disruption budget",
        "S-AFF": "no two kept pods keep away from each other",
        "S-SPREAD": "no kept pod that waits has a hard topology spread constraint",
    }
    assert account_of(found)[-3:] == [
        "not checked by default: S-PDB: no kept pod that could be evicted is protected by a disruption budget",
        "not checked by default: S-AFF: no two kept pods keep away from each other",
        "not checked by default: S-SPREAD: no kept pod that waits has a hard topology spread constraint",
    ]
