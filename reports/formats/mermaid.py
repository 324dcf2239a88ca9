"""A counterexample as a Mermaid sequence diagram, which GitHub and GitLab draw in Markdown.

Actors and the memories that they change are participants. A step is an arrow from its actor to each memory that it changes
with the effects in words, or to the actor itself where there are none. What repeats for ever is a loop.
"""

from collections.abc import Sequence

from ..ci_outcome import USUAL, Style, subject
from ..document import Finding, ShownStep
from ..filtered import on_one_line, text_filtered
from ..text.lanes_text import actors_of

MOST_LETTERS = 50_000
"""Mermaid draws no longer text, unless it is configured otherwise."""

_ESCAPES = {ord(letter): f"#{ord(letter)};" for letter in '#;<>"{}'} | {ord("\n"): " ", ord("\r"): " "}


@text_filtered
def to_mermaid(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """A diagram for every counterexample, each below a comment that says what it is about."""
    diagrams = [
        f"%% {_text(on_one_line(subject(finding)))}\n{diagram(finding)}"
        for finding in findings
        if finding.trace is not None
    ]
    return "\n".join(diagrams) or "%% no counterexample\n"


def diagram(finding: Finding) -> str:
    """The sequence diagram of a violated finding."""
    steps = finding.story
    effects = {step.number: effects_of(step) for step in steps}
    memories = dict.fromkeys(memory for found in effects.values() for memory in found if memory)
    actors = actors_of(steps)
    names = {("actor", name): f"a{i}" for i, name in enumerate(actors)}
    names |= {("memory", name): f"m{i}" for i, name in enumerate(memories)}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {alias} as {_text(name)}" for (_, name), alias in names.items()]
    remarks = finding.remarks
    loop = len(steps) - len(finding.cycle) + 1 if finding.cycle else 0
    indent = "    "
    for step in steps:
        if step.number in remarks:
            remark = _text(remarks[step.number])
            if step.number == loop:
                lines.append(f"{indent}loop {remark}")
                indent += "    "
            else:
                lines.append(f"{indent}Note over a0: {remark}")
        lines += [f"{indent}{line}" for line in _messages(step, effects[step.number], names)]
    if loop:
        lines.append("    end")
    elif len(steps) + 1 in remarks and actors:
        lines.append(f"    Note over a0: {_text(remarks[len(steps) + 1])}")
    if not steps:
        lines.append("    Note over a0: violated in the initial state")
        lines.insert(1, "    participant a0 as initial state")
    return "".join(f"{line}\n" for line in lines)


def effects_of(step: ShownStep) -> dict[str, list[str]]:
    """The effects of a step in words, by the memory that they are in; those in the actor's own part under '', with the reasons."""
    found: dict[str, list[str]] = {}
    for change in step.spoken:
        memory = change.variable.partition(".")[0]
        found.setdefault("" if memory == step.component else memory, []).append(change.phrase)
    if step.reason:
        found.setdefault("", []).append(step.reason)
    return found


def _messages(step: ShownStep, effects: dict[str, list[str]], names: dict[tuple[str, str], str]) -> list[str]:
    actor = names["actor", step.actor]
    call = _text(f"{step.number}. {step.call}")
    lines: list[str] = []
    for memory, phrases in effects.items():
        if memory:
            said = "<br/>".join(map(_text, phrases))
            lines.append(
                f"{actor}->>{names['memory', memory]}: {f'{call}<br/>{said}' if not lines else said}"
            )
    lines = lines or [f"{actor}->>{actor}: {call}"]
    own = "<br/>".join(map(_text, effects.get("", ())))
    return [*lines, f"Note over {actor}: {own}"] if own else lines


def _text(text: str) -> str:
    """A text that Mermaid takes as it is."""
    return text.translate(_ESCAPES)
