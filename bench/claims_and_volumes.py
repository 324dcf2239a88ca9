"""What the scenarios of claims and volumes cost: states, and seconds of CPU for tracing and checking, of each property on the release of the scenario.

    python bench/claims_and_volumes.py [STATES]

A search ends after STATES states (7,000,000) without a verdict. The table is that of docs/claims.md.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import Scenario, find_scenarios

FOLDER = Path(__file__).parents[1] / "scenarios"
MOST_STATES = 7_000_000


def row(scenario: Scenario, name: str, most: int) -> str:
    """A row of the table."""
    release = scenario.release or "1.36.3"
    begun = time.process_time()
    classes = resolve(release, gates=scenario.feature_gates).classes
    system = instrument(scenario.spec, classes, [PROPERTIES[name]])
    traced = time.process_time()
    (found,) = check(system, [name], Budget(max_states=most))
    done = time.process_time()
    verdict = found.verdict.name.lower()
    return f"| `{scenario.name}` | {release} | {name} | {verdict} | {found.counts.states:,} | {traced - begun:.1f} s | {done - traced:.1f} s |"


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MOST_STATES
    print(
        "| Scenario | Release | Property | Found | States | Tracing | Checking |\n|---|---|---|---|---|---|---|"
    )
    for path in sorted([*FOLDER.glob("claims/*.yaml"), *FOLDER.glob("volumes/*.yaml")]):
        (scenario,) = find_scenarios(str(path))
        for name in scenario.properties:
            print(row(scenario, name, most), flush=True)


if __name__ == "__main__":
    main()
