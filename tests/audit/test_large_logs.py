"""What keeps the memory for a log within that of the objects that live: records in files, sums for IDs, and nodes that are forgotten."""

from pathlib import Path

from podrace.audit.audit import Asked, audit_logs
from podrace.audit.history.history import History
from podrace.audit.reading import sorting
from podrace.audit.reading.pairs import Pairs
from podrace.audit.reading.reading import Reader
from tests.audit.test_answers import both, seen
from tests.audit.written_logs import Object, answer, answered, deleted, event, lines, listed, node


def test_pairs_in_any_order() -> None:
    pairs = Pairs()
    for identity in ("b", "a"):
        pairs.ended("pods", identity)
    for identity in ("a", "b", "b"):
        pairs.began("pods", identity)
    assert pairs.unfinished() == 1
    pairs.ended("pods", "b")
    assert pairs.unfinished() == 0
    # As many first lines as last ones, of other requests.
    pairs.began("pods", "c")
    pairs.ended("pods", "d")
    assert pairs.unfinished() == 1
    # Where a policy has no first lines of a kind, none is missed.
    pairs.ended("nodes", "e")
    assert pairs.unfinished() == 1


def many(days: int) -> list[Object]:
    """On each of so many days a node comes, a pod runs on it, and both go."""
    events = [seen("n", 0)]
    for day in range(1, days + 1):
        begun, name = day * 86_400, f"m{day}"
        events += [
            event("create", "nodes", name, begun, code=201, response=node(name, version=10 * day)),
            *both(f"a{day}", begun + 1, on=name),
            deleted(f"a{day}", begun + 2, on=name),
            event("delete", "nodes", name, begun + 3, response={"kind": "Status", "status": "Success"}),
        ]
    return events


def test_what_has_gone_is_forgotten(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    log.write_text(lines(many(50)))
    history = History()
    history.take(Reader().read([str(log)]).writes)
    assert (len(history.nodes), len(history.named), len(history.pods)) == (2, 0, 0)  # n and the last one
    assert answer(answered(tmp_path, many(50), listed(node("n"))), "S-CAP").verdict == "EXCLUDED"


def test_a_node_whose_name_returns_is_another_one(tmp_path: Path) -> None:
    events = many(2)
    back = event("create", "nodes", "m1", 200_000, code=201, response=node("m1", version=99))
    full = [*both("b", 200_001, "2", on="m1"), *both("c", 200_002, "1", on="m1")]
    told = answer(answered(tmp_path, [*events, back, *full], listed(node("n"))), "S-CAP")
    assert told.hits[0].words.startswith("m1 is overfull: 3 of 2 cpu with default/b, default/c")


def test_files_become_one(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(lines(reversed(many(40))))
    assert 200 > sorting.MOST_PIECES
    assert audit_logs(Asked([str(log)], at_once=1)) == audit_logs(Asked([str(log)]))
