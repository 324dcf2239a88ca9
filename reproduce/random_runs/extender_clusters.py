"""Random small clusters whose scheduler asks extenders, or goes by scores, for lockstep, as scenario files: what the usual ones have, without what is rarer there.

A number determines a cluster. Two thirds have an extender or two, half go by scores, and some of these by those of resources.
"""

from random import Random
from typing import Any

import yaml

from .varied_clusters import varied_cluster

GPU, FPGA = "example.com/gpu", "example.com/fpga"

NOT_BESIDE = ("restarts", "leader_changes")
"""Faults that the model does not have beside an extender."""


def extender_cluster(number: int) -> str:
    """The scenario file of this number."""
    made = yaml.safe_load(varied_cluster(number, changing=False, rarer=False))
    _Drawing(Random(f"extenders {number}"), made).add()
    return yaml.safe_dump({**made, "name": f"extenders-{number}"}, sort_keys=False)


class _Drawing:
    """What is drawn for one cluster, whose scenario is `made`."""

    def __init__(self, random: Random, made: dict[str, Any]) -> None:
        self.random, self.made = random, made
        self.nodes = list(made["nodes"])
        self.scored = self.chance(0.5)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def add(self) -> None:
        """Add extenders, or scores, or both."""
        asked = self.random.choice((0, 1, 2)) if self.scored else self.random.choice((1, 1, 2))
        if asked:
            self._add_extenders(asked)
        if self.scored:
            self._score()

    def _add_extenders(self, asked: int) -> None:
        self._hand_out()
        resources = [self.random.choice((GPU, GPU, None)), self.random.choice((FPGA, None))]
        found = [self._extender(resource) for resource in resources[:asked]]
        binders = [one for one in found if "bind" in one["verbs"]]
        for one in binders[1:]:
            one["verbs"] = [verb for verb in one["verbs"] if verb != "bind"] or ["filter"]
            if one.get("counts") == "bound":
                one["counts"] = "heard"
        if asked == 1:
            self.made["extender"] = found[0]
        else:
            self.made["extenders"] = {f"e{i + 1}": one for i, one in enumerate(found)}
        scope = self.made["scope"]
        for name in NOT_BESIDE:
            scope.pop(name, None)
        if self.chance(0.5):
            scope["extender_failures"] = self.random.randint(1, 2)
        if any(one.get("counts") == "filtered" for one in found) and self.chance(0.6):
            scope["late_answers"] = 1

    def _hand_out(self) -> None:
        """Nodes have some of both resources, and pods ask for some; who is bound has its own."""
        for resource in (GPU, FPGA):
            left = {node: self.random.randint(1, 2) for node in self.nodes}
            for node, amount in left.items():
                self.made["nodes"][node].setdefault("resources", {})[resource] = amount
            asking = 0
            for pod in self.made["pods"].values():
                on = pod.get("nodeName")
                if self.chance(0.7) and (on is None or left[on]):
                    pod.setdefault("resources", {})[resource] = 1
                    asking += 1
                    if on is not None:
                        left[on] -= 1
            if not asking:
                waiting = next(pod for pod in self.made["pods"].values() if "nodeName" not in pod)
                waiting.setdefault("resources", {})[resource] = 1

    def _extender(self, resource: str | None) -> dict[str, Any]:
        verbs = [
            verb for verb, often in (("filter", 0.8), ("preempt", 0.4), ("bind", 0.3)) if self.chance(often)
        ]
        if self.scored and self.chance(0.6):
            verbs.append("prioritize")
        made: dict[str, Any] = {"verbs": verbs or ["filter"]}
        if resource is not None:
            made["resource"] = resource
            made["ignoredByScheduler"] = self.chance(0.5)
            counts = ["heard"]
            counts += ["filtered"] if "filter" in made["verbs"] else []
            counts += ["bound"] if "bind" in made["verbs"] else []
            made["counts"] = self.random.choice(counts)
        if self.chance(0.4):
            made["ignorable"] = True
        if "filter" in made["verbs"]:
            if self.chance(0.3):
                made["nodes"] = self.random.sample(self.nodes, self.random.randint(1, len(self.nodes)))
            if self.chance(0.3):
                made["unresolvable"] = True
        if "prioritize" in verbs:
            made["scores"] = {node: self.random.choice((0, 3, 10)) for node in self.nodes}
            made["weight"] = self.random.choice((1, 2))
        return made

    def _score(self) -> None:
        config: dict[str, Any] = {"scored": True}
        if self.chance(0.5):
            config["scoringStrategy"] = self.random.choice(("LeastAllocated", "MostAllocated"))
            for node in self.made["nodes"].values():
                node["memory"] = f"{self.random.choice((4, 6, 8))}Gi"
            for pod in self.made["pods"].values():
                pod["memory"] = "1Gi"
        if self.chance(0.3):
            config["scoreWeights"] = {"InterPodAffinity": self.random.choice((0, 1, 5))}
        if self.chance(0.3):
            config["hardPodAffinityWeight"] = self.random.choice((0, 10))
        self.made["config"] = config
