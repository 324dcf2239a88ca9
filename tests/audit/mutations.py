"""What can have happened to a log before somebody gives it to podrace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from tests.audit.written_logs import Object, lines


@dataclass
class Mutated:
    """A log, or several, and whether whoever has it may say that it is complete."""

    kind: str
    texts: list[str]
    complete: bool = True
    from_the_start: bool = True


def mutated(random: Random, given: Sequence[Object]) -> Mutated:
    """One random mutation."""
    events = [dict(event) for event in given]
    kind = random.choice(list(_KINDS))
    return _KINDS[kind](kind, random, events)


def _dropped(kind: str, random: Random, events: list[Object]) -> Mutated:
    share = random.choice((0.05, 0.2, 0.5))
    return Mutated(kind, [lines(e for e in events if random.random() > share)], complete=False)


def _without_bodies(kind: str, random: Random, events: list[Object]) -> Mutated:
    share = random.choice((0.1, 0.5, 1.0))
    for event in events:
        if random.random() < share:
            event |= {"level": "Metadata"}
            event.pop("requestObject", None)
            event.pop("responseObject", None)
    return Mutated(kind, [lines(events)])


def _without_responses(kind: str, random: Random, events: list[Object]) -> Mutated:
    for event in events:
        event |= {"level": "Request"}
        event.pop("responseObject", None)
    return Mutated(kind, [lines(events)])


def _with_statuses_as_sent(kind: str, random: Random, events: list[Object]) -> Mutated:
    """As managed services log the statuses that kubelets write: without responses."""
    for event in events:
        if event["objectRef"].get("subresource") == "status":
            body = event.pop("responseObject", None)
            if body is None:
                continue  # the line of a request that came, or that was refused
            sent = {"status": body["status"]}
            if event["objectRef"]["resource"] == "nodes":
                sent = {"status": {"conditions": []}}
            event |= {"level": "Request", "requestObject": sent}
    return Mutated(kind, [lines(events)])


def _shuffled(kind: str, random: Random, events: list[Object]) -> Mutated:
    random.shuffle(events)
    return Mutated(kind, [lines(events)])


def _cut(kind: str, random: Random, events: list[Object]) -> Mutated:
    text = lines(events)
    return Mutated(kind, [text[: random.randrange(len(text) + 1)]], complete=False)


def _without_beginning(kind: str, random: Random, events: list[Object]) -> Mutated:
    return Mutated(kind, [lines(events[random.randrange(len(events)) :])], from_the_start=False)


def _split(kind: str, random: Random, events: list[Object]) -> Mutated:
    parts: list[list[Object]] = [[], [], []]
    for event in events:
        random.choice(parts).append(event)
    return Mutated(kind, [lines(part) for part in parts])


def _with_clocks_that_differ(kind: str, random: Random, events: list[Object]) -> Mutated:
    """Three API servers, whose clocks differ by at most 50 ms; both lines of a request are of one of them."""
    parts: list[list[Object]] = [[], [], []]
    fast = [timedelta(microseconds=random.randint(-25_000, 25_000)) for _ in parts]
    server: dict[str, int] = {}
    for event in events:
        which = server.setdefault(event["auditID"], random.randrange(3))
        for name in ("requestReceivedTimestamp", "stageTimestamp"):
            moment = datetime.fromisoformat(event[name]) + fast[which]
            event[name] = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
        parts[which].append(event)
    return Mutated(kind, [lines(part) for part in parts])


def _as_fast_as_clocks_differ(kind: str, random: Random, events: list[Object]) -> Mutated:
    """The same, with 20 ms from one step to the next, so that lines are in other orders than what they tell of."""
    begun = min(datetime.fromisoformat(event["requestReceivedTimestamp"]) for event in events)
    for event in events:
        for name in ("requestReceivedTimestamp", "stageTimestamp"):
            event[name] = (begun + (datetime.fromisoformat(event[name]) - begun) / 50).isoformat()
    return _with_clocks_that_differ(kind, random, events)


def _one_missing(kind: str, random: Random, events: list[Object]) -> Mutated:
    parts = _split(kind, random, events).texts
    return Mutated(kind, parts[:2], complete=False)


def _with_errors(kind: str, random: Random, events: list[Object]) -> Mutated:
    """Requests that timed out although they were carried out."""
    for event in events:
        if random.random() < 0.3 and event["stage"] == "ResponseComplete":
            event["responseStatus"] = {"code": random.choice((500, 504))}
            event.pop("responseObject", None)
    return Mutated(kind, [lines(events)])


def _damaged(kind: str, random: Random, events: list[Object]) -> Mutated:
    text = lines(events)
    at = random.randrange(len(text) + 1)
    return Mutated(
        kind,
        [text[:at] + random.choice(("", "\x1b[", "{{{", "\0")) + text[at + random.randrange(40) :]],
        complete=False,
    )


def _twice(kind: str, random: Random, events: list[Object]) -> Mutated:
    return Mutated(kind, [lines([*events, *random.sample(events, len(events) // 2)])])


_KINDS = {
    "dropped": _dropped,
    "without bodies": _without_bodies,
    "without responses": _without_responses,
    "with statuses as they were sent": _with_statuses_as_sent,
    "shuffled": _shuffled,
    "cut": _cut,
    "without its beginning": _without_beginning,
    "split over three servers": _split,
    "with clocks that differ": _with_clocks_that_differ,
    "as fast as clocks differ": _as_fast_as_clocks_differ,
    "one of three servers missing": _one_missing,
    "with errors": _with_errors,
    "damaged": _damaged,
    "given twice": _twice,
}
