"""What is worth telling of what a view says of a subject, and of an event on its way."""

from collections.abc import Iterator, Mapping, Set

from ..base.structs import Data
from .evidence import Memory
from .step import Value, says_something

Changed = Set[tuple[str, str, str]]
"""View, subject and fact."""
Disputed = Set[tuple[str, str]]
"""Subject and fact."""


class FactTold(Data):
    """A fact in words; whether the last step changed it, and whether views do not agree on it."""

    text: str
    changed: bool
    disputed: bool


def facts_told(
    view: str, subject: str, facts: Mapping[str, Value], changed: Changed, disputed: Disputed, memory: Memory
) -> Iterator[FactTold]:
    """What a view says of a subject, less what goes without saying."""
    gone = facts.get("exists") is False
    for fact, value in facts.items():
        is_disputed = (subject, fact) in disputed
        is_changed = (view, subject, fact) in changed
        if gone and fact != "exists" and not (is_changed and says_something(value)):
            continue
        if not (says_something(value) or is_disputed or is_changed or (gone and fact == "exists")):
            continue
        text = memory.words(fact, value)
        if not text or (fact == "exists" and value is True and _says_more(facts) and not is_changed):
            continue
        yield FactTold(text, is_changed, is_disputed)


def event_words(facts: Mapping[str, Value], memory: Memory) -> str:
    """What an event says of what it is about."""
    if facts.get("exists") is False:
        return memory.words("exists", False)
    said = [
        memory.words(fact, value)
        for fact, value in facts.items()
        if fact in memory.facts and says_something(value)
    ]
    return ", ".join(said)


def _says_more(facts: Mapping[str, Value]) -> bool:
    return any(says_something(value) for fact, value in facts.items() if fact != "exists")
