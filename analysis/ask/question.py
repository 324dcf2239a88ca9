"""A question: steps in order, what must not come between them, and a state to end in, as people write them.

Each item is a text. `then:` before a step says that it comes directly after the one before, `not:` that a step does not come between the step before
and the next one, `never:` that it does not come at all, and `end:` names a state that the run ends in. A text without such a word is a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line

THEN, NOT, NEVER, END = WORDS = ("then", "not", "never", "end")

_PODS, _NODES = re.compile(r"\b(?:[pqr]|p[0-9]+)\b"), re.compile(r"\b(?:[nm]|n[0-9]+)\b")
"""What a question about all clusters calls pods and nodes."""

MOST_STEPS = 20
"""A question has no more steps."""


class AskedStep(Data):
    """One step as it was written; `directly`: with nothing between it and the one before; `without` must not come between these two."""

    words: str
    directly: bool = False
    without: tuple[str, ...] = ()


class Question(Data):
    """Steps in their order, with anything between; `after` must not come between the last one and the end."""

    steps: tuple[AskedStep, ...]
    never: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """The question as it is written; `read_question` reads it."""
        return tuple(self._items())

    def _items(self) -> Iterator[str]:
        for step in self.steps:
            yield from (f"{NOT}: {words}" for words in step.without)
            yield f"{THEN}: {step.words}" if step.directly else step.words
        yield from (f"{NOT}: {words}" for words in self.after)
        yield from (f"{NEVER}: {words}" for words in self.never)
        yield from (f"{END}: {words}" for words in self.ends)

    @property
    def sentence(self) -> str:
        """The question in one sentence."""
        return f"Can this happen, in this order? {'; '.join(self.items)}."

    def about(self, pods: Sequence[str], nodes: Sequence[str]) -> Iterator[tuple[dict[str, str], Question]]:
        """The question about every choice of different pods for `p`, `q`, `r` and `p1`, `p2`, ..., and of different nodes for `n`, `m` and `n1`, `n2`, ...; each with the choice."""
        text = "\n".join(self.items)
        called = [tuple(dict.fromkeys(names.findall(text))) for names in (_PODS, _NODES)]
        for chosen in permutations(pods, len(called[0])):
            for places in permutations(nodes, len(called[1])):
                names = dict(zip((*called[0], *called[1]), (*chosen, *places), strict=True))
                yield names, read_question([_renamed(item, names) for item in self.items])

    def orders_near(self, at: int) -> Iterator[tuple[str, Question]]:
        """Questions that differ by one change, each with the change in words; those about the step `at` (from 0) come first."""
        steps, size = self.steps, len(self.steps)
        if not steps:  # the end alone is asked about
            pass
        elif at == size:  # all steps are possible, and not the end after them
            if self.ends:
                yield "without the state at the end", replace(self, ends=(), after=())
        else:
            for to in range(at - 1, -1, -1):
                moved = (*steps[:to], steps[at], *steps[to:at], *steps[at + 1 :])
                yield f"step {at + 1} before step {to + 1}", self._with(moved)
        for step in dict.fromkeys((min(at, size - 1), *range(size - 1, -1, -1))) if steps else ():
            one = steps[step]
            if one.directly or one.without:
                yield (
                    f"anything between step {step} and step {step + 1}" if step else "anything before step 1",
                    self._with((*steps[:step], AskedStep(one.words), *steps[step + 1 :])),
                )
            if size > 1:
                yield f"without step {step + 1}", self._with((*steps[:step], *steps[step + 1 :]))
        if self.never:
            yield "without `never`", replace(self, never=())

    def _with(self, steps: Sequence[AskedStep]) -> Question:
        first = replace(steps[0], directly=False)
        return replace(self, steps=(first, *steps[1:]))


def _renamed(item: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\b[a-z][0-9]*\b", lambda found: names.get(found[0], found[0]), item)


def read_question(items: Sequence[str]) -> Question:
    """The question that these texts ask. Raises UsageProblem."""
    steps: list[AskedStep] = []
    between: list[str] = []
    never: list[str] = []
    ends: list[str] = []
    for item in items:
        word, colon, rest = item.partition(":")
        word = word.strip().lower()
        kind = word if colon and word in WORDS else ""
        words = (rest if kind else item).strip()
        if not words:
            raise UsageProblem(
                f"`{one_line(item)}`: write a step or a state behind the colon"
                if kind
                else "an empty step: write one"
            )
        if len(words) > 300 or not words.isprintable():
            raise UsageProblem(f"`{one_line(words)}`: a step is one line of at most 300 printable characters")
        if kind == NOT:
            between.append(words)
        elif kind == NEVER:
            never.append(words)
        elif kind == END:
            ends.append(words)
        else:
            if kind == THEN and not steps:
                raise UsageProblem(
                    f"`{THEN}: {one_line(words)}`: there is no step before it: leave out `{THEN}`"
                )
            steps.append(AskedStep(words, kind == THEN, tuple(between)))
            between = []
    if not steps and not ends:
        raise UsageProblem(
            "no step is asked about: write one, such as `users delete p`, or a state with `end: p parked`"
        )
    if len(steps) > MOST_STEPS:
        raise UsageProblem(f"{len(steps)} steps are asked about: a question has at most {MOST_STEPS}")
    if between and not ends:
        raise UsageProblem(
            f"`{NOT}: {one_line(between[0])}`: no step and no end follows it: write one, or use `{NEVER}`"
        )
    return Question(tuple(steps), tuple(never), tuple(ends), tuple(between))
