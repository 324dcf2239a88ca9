"""The tables of docs/notebook/real-runs.md for folders of scenarios: a row for each scenario and property, a column for each version."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.reproduce.real.real_table import Table

VERSIONS = ("1.34.4", "1.35.4", "1.36.3", "1.37.2", "1.38.0-beta.0")


@dataclass(frozen=True, slots=True)
class ScenarioTable:
    """The table between two comments of its name, about scenarios of the folder of scenarios/ that is called so, if it is not said which."""

    name: str
    rows: tuple[tuple[str, str], ...]
    of: str = ""

    @property
    def folder(self) -> str:
        """The folder of its scenarios."""
        return self.of or self.name

    @property
    def _block(self) -> re.Pattern[str]:
        return re.compile(rf"(<!-- {self.name} -->\n)(.*?)(<!-- /{self.name} -->)", re.DOTALL)

    def read(self, text: str) -> Table:
        """The table of a page."""
        found = self._block.search(text)
        assert found is not None
        table: Table = {}
        for line in found[2].splitlines():
            cells = [part.strip() for part in line.strip("|").split("|")]
            if line.startswith("| `"):
                table[cells[0].strip("`"), cells[1]] = {
                    v: c for v, c in zip(VERSIONS, cells[2:], strict=True) if c
                }
        return table

    def put(self, text: str, table: Table) -> str:
        """A page with this table."""
        lines = [
            f"| Scenario | Property | {' | '.join(VERSIONS)} |",
            f"|---|---|{'---|' * len(VERSIONS)}",
        ]
        lines += [
            f"| `{name}` | {identifier} | {' | '.join(cells.get(v, '') for v in VERSIONS)} |"
            for (name, identifier), cells in table.items()
        ]
        return self._block.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[3], text)


CLAIMS = ScenarioTable(
    "claims",
    (
        ("bound-unreserved", "S-RESV"),
        ("flight-ended-by-another", "S-INFLIGHT"),
        ("flight-ended-unheard", "L-CLAIM"),
        ("deleted-unheard", "L-CLAIM"),
        ("deleted-by-its-user", "L-CLAIM"),
        ("taken-for-replaced", "S-RESV"),
        ("unreserved-by-the-next-leader", "S-RESV"),
        ("device-given-away", "S-DEV"),
        ("device-late", "S-RESV"),
        ("named-too-late", "L-CLAIM"),
        ("extended-parked", "L-CLAIM"),
        ("extended-left", "L-CLAIM"),
        ("extended-twice-tried", "S-RESV"),
        ("extended-told-late", "S-DEV"),
        ("extended-never-allocated", "L-CLAIM"),
        ("capacity-counted-twice", "L-CLAIM"),
        ("second-best-taken", "L-PLACE"),
        ("allocated-and-freed", "S-INFLIGHT"),
        ("scaled-up-before-its-slice", "L-LOOP"),
    ),
)

ACTORS = ScenarioTable(
    "actors",
    (
        ("duplicates-without-room", "L-LOOP"),
        ("room-for-daemons", "L-LOOP"),
        ("repelled-in-order", "L-LOOP"),
        ("preferred-elsewhere", "L-LOOP"),
        ("spread-over-taint", "L-LOOP"),
        ("spread-outweighed", "L-LOOP"),
        ("too-large-anywhere", "L-LOOP"),
        ("two-schedulers", "S-ADMIT"),
        ("two-schedulers", "S-CAP"),
        ("preempted-by-another", "L-OVER"),
        ("preempted-by-another", "L-LOOP"),
        ("consolidated-too-soon", "L-LOOP"),
        ("taint-unseen", "S-SCALE"),
        ("quota-held-back", "S-QUOTA"),
        ("overwritten-budget", "S-EVICT"),
        ("replaced-before-gone", "S-MANY"),
        ("one-too-many", "S-MANY"),
        ("back-while-drained", "S-SCALE"),
        ("drained-for-ever", "L-LOOP"),
        ("back-and-driven-away", "S-BACK"),
        ("unready-unseen", "S-EVICT"),
        ("ready-in-the-end", "S-EVICT"),
        ("namesake-drained", "S-IDEVICT"),
        ("duplicates-preferred", "L-LOOP"),
        ("packed-again", "L-LOOP"),
        ("back-to-the-larger", "L-LOOP"),
        ("namesake-not-asked-for", "S-IDEVICT"),
        ("started-in-the-end", "S-EVICT"),
    ),
)

EXTENDERS = ScenarioTable(
    "extenders",
    (
        ("extender-unaware", "S-ADMIT"),
        ("extender-behind", "S-STUCK"),
        ("late-extender", "S-CAP"),
        ("kept-by-extender", "S-STUCK"),
        ("nobody-makes-way", "L-INV"),
        ("passed-over", "S-ADMIT"),
        ("veto-from-before", "L-INV"),
        ("answered-too-late", "S-STUCK"),
        ("counted-elsewhere", "S-STUCK"),
        ("counted-and-rejected", "S-STUCK"),
    ),
    of="actors",
)

VOLUMES = ScenarioTable(
    "volumes",
    (
        ("claim-told-early", "L-VOL"),
        ("bound-between", "S-VOL"),
        ("bound-after-restore", "S-VOL"),
        ("made-and-found", "S-PLACED"),
        ("reverted-by-sibling", "S-HELD"),
        ("forgotten-by-restore", "S-WRITTEN"),
        ("exclusive", "S-STUCK"),
        ("exclusive", "L-VOL"),
        ("limit-told-late", "S-LIMIT"),
        ("attached-unseen", "S-LIMIT"),
        ("attached-victim", "L-INV"),
        ("own-volume-twice", "L-VOL"),
        ("uncounted-user", "S-RWOP"),
    ),
)

TABLES = (CLAIMS, ACTORS, EXTENDERS, VOLUMES)
