"""How changes of variables read as sentences; the words themselves are data that the caller brings.

A word is chosen by the name of the variable. What no word covers is shown as it is, so that state which nobody
has words for (a user's patch) is never silently left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from types import MappingProxyType

from .document import Change, Step, Value, show


@dataclass(frozen=True, slots=True)
class Word:
    """The words for the variables whose whole name matches `pattern`.

    `set` is used when the new value says something, `cleared` when it is empty; an empty text hides the change.
    `{0}`, `{1}` are the pattern's groups, `{before}` and `{after}` the values, and any other name is an
    argument of the step, such as `{pod}`. A `decisive` change stands out.
    """

    pattern: str
    set: str = ""
    cleared: str = ""
    decisive: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """How a step is told: the sentence for steps whose `component.step` matches `step` as a whole.

    With `when`, only for those that changed something like it: it is searched in lines `variable: before -> after`, and
    its named groups are further names for the text, beside the arguments of the step.
    """

    step: str
    text: str
    when: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """One change in words."""

    text: str
    decisive: bool


class _Arguments(dict[str, str]):
    """The arguments of a step; one that the step does not have is `the pod`, `the node`."""

    def __missing__(self, name: str) -> str:
        return f"the {name}"


@dataclass(frozen=True)
class Vocabulary:
    """Words and sentences, the first match winning; `values` renames values, `empty` lists those that say nothing.

    `facts` says how a view speaks of a subject: for each fact what is said if it is so, with `{value}`, and if it is not.
    """

    words: Sequence[Word] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()
    sentences: Sequence[Sentence] = ()
    facts: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def phrases(self, step: Step) -> list[Phrase]:
        """What a step changed, in words, in the order of the variables."""
        arguments = _Arguments({name: show(value) for name, value in step.args.items()})
        found = (self.phrase(change, arguments) for change in step.changes)
        return [phrase for phrase in found if phrase is not None]

    def phrase(self, change: Change, arguments: Mapping[str, str] = MappingProxyType({})) -> Phrase | None:
        """One change in words; None if it is bookkeeping."""
        for word in self.words:
            match = re.fullmatch(word.pattern, change.variable)
            if match is None:
                continue
            template = word.cleared if self._says_nothing(change.after) else word.set
            if not template:
                return None
            names = {"before": self._name(change.before), "after": self._name(change.after)}
            text = Formatter().vformat(template, match.groups(), _Arguments({**arguments, **names}))
            return Phrase(text, word.decisive)
        return Phrase(f"{change.variable}: {show(change.before)} -> {show(change.after)}", False)

    def tell(self, step: Step) -> str:
        """A step in one sentence; a step that has none is told by its actor, its call and its summary."""
        changes = "\n".join(f"{c.variable}: {show(c.before)} -> {show(c.after)}" for c in step.changes)
        for sentence in self.sentences:
            if re.fullmatch(sentence.step, f"{step.component}.{step.step}") is None:
                continue
            match = re.search(sentence.when, changes)
            if match is None:
                continue
            names = {name: show(value) for name, value in step.args.items()}
            names |= {name: self._name(value) for name, value in match.groupdict().items()}
            return Formatter().vformat(sentence.text, (), _Arguments(names))
        return f"{step.actor}: {step.call}" + (f" ({step.summary})." if step.summary else ".")

    def fact(self, name: str, value: Value) -> str:
        """What a view says of a subject; nothing if that is not worth a word."""
        says, denies = self.facts.get(name, (f"{name.replace('_', ' ')} {{value}}", ""))
        return denies if self._says_nothing(value) else says.format(value=self._name(value))

    def _says_nothing(self, value: Value) -> bool:
        return value is None or value is False or (isinstance(value, str) and value in self.empty)

    def _name(self, value: Value) -> str:
        text = show(value)
        return self.values.get(text, text)


PLAIN = Vocabulary()
"""No words: every change as it is."""
