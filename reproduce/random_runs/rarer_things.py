"""What half of the random clusters have besides: host ports, updates of pods, pods that finish, names that are used again, budgets that are kept, an
autoscaler. One or two of these in a cluster.
"""

from collections.abc import Iterator, Sequence
from random import Random

KINDS = ("ports", "updates", "finishes", "names", "autoscaler")

CLUSTERS = 0.5
"""In how many clusters there is anything of this."""

PODS = 0.6
"""How many pods of such a cluster have it."""

SECOND = "p9"
"""The pod that takes the name of another."""


class RarerThings:
    """What is drawn for one cluster. `protected`: there is a budget, and labels stay as they are."""

    def __init__(self, random: Random, protected: bool) -> None:
        self.random, self.protected = random, protected
        there = random.random() < CLUSTERS
        self.kinds = frozenset(random.sample(KINDS, random.choice((1, 1, 2))) if there else ())
        # A budget knows pods by their names (A-BUDGETS), which is left out.
        self.keeps_budgets = protected and "names" not in self.kinds and random.random() < CLUSTERS
        self._ports: set[str] = set()
        self._updated = False

    def of_pod(self, cpu: int, node: str | None, tolerates: bool) -> Iterator[str]:
        """The fields of a pod that asks for so much, and may be bound."""
        if self._has("ports") and node not in self._ports:
            self._ports |= {node} if node else set()
            yield f"hostPorts: [{self.random.choice((80, 80, 81))}]"
        if self._has("finishes"):
            yield "finishes: true"
        if self._has("updates"):
            versions = list(self._versions(cpu, tolerates))
            self._updated = True
            yield f"updates: {{{', '.join(versions)}}}"

    def _has(self, kind: str) -> bool:
        return kind in self.kinds and self.random.random() < PODS

    def _versions(self, cpu: int, tolerates: bool) -> Iterator[str]:
        changes = {"cpu": str(self.random.choice([c for c in (1, 2, 3) if c != cpu]))}
        if not self.protected:
            changes["labels"] = f"{{app: {self.random.choice('xy')}}}"
        if not tolerates:
            changes["tolerations"] = "[{key: t, operator: Exists}]"
        for i in range(self.random.choice((1, 1, 2))):
            chosen = self.random.sample(sorted(changes), min(len(changes), self.random.choice((1, 1, 2))))
            yield f"v{i + 1}: {{{', '.join(f'{field}: {changes[field]}' for field in sorted(chosen))}}}"

    def second_pods(self, there: Sequence[str], most: int) -> Iterator[str]:
        """The pods that take the names of others; `there` are those that exist at the start. They ask for at most so much."""
        if "names" in self.kinds:
            grace = ", terminationGracePeriodSeconds: 0" if self.random.random() < CLUSTERS else ""
            cpu, priority = min(self.random.choice((1, 1, 2)), most), self.random.randint(0, 3)
            taken = self.random.choice(there)
            yield f"{SECOND}: {{cpu: {cpu}, priority: {priority}, recreates: {taken}{grace}}}"

    def scope(self, allowed: bool) -> Iterator[tuple[str, str]]:
        """The bounds of what may happen besides. `allowed`: the disruption controller could have come to the budget that is there."""
        if self._updated:
            yield "pod_updates", str(self.random.randint(1, 3))
        if "names" in self.kinds:
            yield "pod_deletions", str(self.random.randint(1, 2))
        if self.keeps_budgets and allowed:
            yield "disruption_controller", "true"
            yield "evictions", str(self.random.randint(1, 2))
        if "autoscaler" in self.kinds:
            yield "scale_downs", str(self.random.randint(1, 2))
            yield "scale_down_looks_again", self.random.choice(("true", "false"))
