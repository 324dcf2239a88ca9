"""How changes of variables read as sentences; the words themselves are data that the caller brings.

A word is chosen by the name of the variable. What no word covers is shown as it is, so that state which nobody
has words for (a user's patch) is never silently left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .document import Change, Step, Value, show


@dataclass(frozen=True, slots=True)
class Word:
    """The words for the variables whose whole name matches `pattern`.

    `set` is used when the new value says something, `cleared` when it is empty; an empty text hides the change.
    `{0}`, `{1}` are the pattern's groups; `{before}` and `{after}` the values. A `decisive` change stands out.
    """

    pattern: str
    set: str = ""
    cleared: str = ""
    decisive: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """One change in words."""

    text: str
    decisive: bool


@dataclass(frozen=True)
class Vocabulary:
    """Words, the first match winning; `values` renames values, `empty` lists those that say nothing."""

    words: Sequence[Word] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()

    def phrases(self, step: Step) -> list[Phrase]:
        """What a step changed, in words, in the order of the variables."""
        found = (self.phrase(change) for change in step.changes)
        return [phrase for phrase in found if phrase is not None]

    def phrase(self, change: Change) -> Phrase | None:
        """One change in words; None if it is bookkeeping."""
        for word in self.words:
            match = re.fullmatch(word.pattern, change.variable)
            if match is None:
                continue
            template = word.cleared if self._says_nothing(change.after) else word.set
            if not template:
                return None
            text = template.format(
                *match.groups(), before=self._name(change.before), after=self._name(change.after)
            )
            return Phrase(text, word.decisive)
        return Phrase(f"{change.variable}: {show(change.before)} -> {show(change.after)}", False)

    def _says_nothing(self, value: Value) -> bool:
        return value is None or value is False or (isinstance(value, str) and value in self.empty)

    def _name(self, value: Value) -> str:
        text = show(value)
        return self.values.get(text, text)


PLAIN = Vocabulary()
"""No words: every change as it is."""
