"""How words of a question are held against sentences: in what order, and in which form of the verb does not matter much."""

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

_WORD = re.compile(r"[^\s,;:()\"“”]+")
_ENDING = re.compile(r"(?:ions|ion|ors|or|ing|ed|es|s|e)$")
ARTICLES = frozenset({"the", "a", "an"})


def stem(word: str) -> str:
    """The word without the ending that a verb takes: nominates, nominated and nomination are one."""
    return _ENDING.sub("", word) if len(word) > 3 else word


def words_of(text: str, names: Collection[str], idle: Collection[str] = ARTICLES) -> tuple[str, ...]:
    """The words of a text, without its ending and its articles. `names` are those of pods and other objects: they stay as they are."""
    found = []
    for raw in _WORD.findall(text):
        word = raw.rstrip(".!?").removesuffix("'s").removesuffix("’s")
        if word in names:
            found.append(word)
        elif word and word.lower() not in idle:
            found.append(stem(word.lower()))
    return tuple(found)


def head_of(sentence: str) -> str:
    """The sentence up to its first colon, comma or semicolon, which says the step; behind it stands what comes of it."""
    return re.split(r"[:,;]", sentence, maxsplit=1)[0]


def are_within(asked: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words stand in a sentence, in their order, with others between them."""
    left = iter(said)
    return all(word in left for word in asked)


def are_together(asked: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words stand in a sentence one after the other."""
    size = len(asked)
    return any(tuple(said[i : i + size]) == tuple(asked) for i in range(len(said) - size + 1))


def likeness(asked: Sequence[str], said: Sequence[str]) -> float:
    """How near a sentence is to the words: from 0 to 2."""
    common, together = len({*asked} & {*said}), len({*asked, *said}) or 1
    return common / together + SequenceMatcher(None, asked, said, autojunk=False).ratio()
