"""The states of a counterexample, one at a time: a slider, the cluster, and what each component knows.

Without JavaScript all states stand one below the other; with it, the slider shows one.
"""

from ..document import Finding
from ..picture import scenes
from ..states import State, states_of
from ..text.explanation import Explanation
from .cluster_page import draw
from .elements import Markup, el
from .memory import channels, memory_table


def player(finding: Finding, told: Explanation, name: str) -> Markup:
    """Slider and states; nothing if the finding does not tell what components know."""
    states = states_of(finding)
    if not states:
        return Markup("")
    last = len(states) - 1
    ticks = [
        el("span", class_="tick", style=f"left: {100 * one.number / last:g}%")
        for one in told.steps
        if one.diverges
    ]
    controls = el(
        "div",
        el("button", "‹", type="button", data_move=-1, aria_label="Previous step", title="Previous step (←)"),
        el(
            "div",
            el(
                "input",
                type="range", min=0, max=last, value=0, step=1, aria_label="Step", aria_valuetext="Before the first step",
                id=f"{name}-slider",
            ),
            el("div", *ticks, class_="ticks", aria_hidden="true"),
            class_="track",
        ),
        el("button", "›", type="button", data_move=1, aria_label="Next step", title="Next step (→)"),
        el("output", f"0 / {last}", for_=f"{name}-slider", class_="position"),
        class_="controls",
        hidden=True,
    )  # fmt: skip
    panels = [_panel(finding, told, number, states, name) for number in range(len(states))]
    hint = el("p", "← → one step, Home and End; a mark on the slider: views begin to differ.", class_="hint")
    return el("div", controls, *panels, hint, class_="player", data_last=last)


def _panel(finding: Finding, told: Explanation, number: int, states: list[State], name: str) -> Markup:
    state = states[number]
    before = states[number - 1] if number else None
    if number:
        one = told.steps[number - 1]
        heading, sentence = f"After step {number}", one.text
        notes = [el("p", note, class_="note split") for note in one.notes if note.startswith("From here on")]
    else:
        heading, sentence, notes = "Before the first step", "How it begins.", []
    pods = tuple(pod.name for pod in finding.cluster.pods) if finding.cluster is not None else ()
    drawn = (
        [draw(scene, pods, f"{name}-{number}-{i}") for i, scene in enumerate(scenes(finding.cluster, state))]
        if finding.cluster is not None
        else []
    )
    return el(
        "section",
        el("h4", heading, id=f"{name}-heading-{number}"),
        el("p", sentence, class_="now"),
        *notes,
        el("div", *drawn, class_="clusters"),
        channels(state, finding.memory) if finding.memory is not None else None,
        memory_table(finding, before, state),
        class_="state",
        id=f"{name}-state-{number}",
        data_state=number,
        data_title=f"{heading}: {sentence}" if number else heading,
        aria_labelledby=f"{name}-heading-{number}",
    )
