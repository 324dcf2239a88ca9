"""The trace of hazard ghost on 1.36.3, as it is stored."""

from __future__ import annotations

import json
from pathlib import Path

SCENARIO = Path(__file__).parents[2] / "scenarios" / "hazards" / "ghost.yaml"

STEPS = (
    ("scheduler.pop", {"pod": "p"}),
    ("scheduler.take_snapshot", {"pod": "p"}),
    ("scheduler.filter", {"pod": "p", "node": "n1"}),
    ("scheduler.reread_preemptor", {"pod": "p"}),
    ("scheduler.dry_run", {"pod": "p", "node": "n1"}),
    ("scheduler.fail", {"pod": "p"}),
    ("failure.read", {"pod": "p"}),
    ("users.delete_pod", {"pod": "p"}),
    ("handlers.handle_for_queue", {"pod": "p"}),
    ("failure.requeue", {"pod": "p"}),
    ("handlers.look_whether_assumed", {"pod": "p"}),
)


def trace(release: str = "1.36.3", **more: object) -> str:
    """The stored trace, with fields put in."""
    text = SCENARIO.read_text(encoding="utf-8")
    document = {
        "scenario": {"name": "ghost", "file": "scenarios/hazards/ghost.yaml", "text": text},
        "release": release,
        "property": "S-GHOST",
        "steps": [{"step": step, "args": args} for step, args in STEPS],
        "format": "podrace-trace",
        "version": 1,
        **more,
    }
    return json.dumps(document)


GHOST = trace()
