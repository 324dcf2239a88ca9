"""The catalogue of races, both ways: there before the fix, gone with it, back without it. Exact counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.model.history import RELEASE_ORDER, resolve
from podrace.model.history.versions import canonical, exact
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue, find_scenarios

V, H = "VIOLATED", "HOLDS"

LARGE = 250_000
"""Rows with more states are left to `make test-all`, but for the race of a scenario, which every run finds."""


@dataclass(frozen=True)
class Row:
    """What one check gives, with the feature gates that the scenario sets. `steps` is the length of the counterexample."""

    race: str
    property: str
    release: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    verdict: str
    states: int
    transitions: int
    depth: int
    steps: int | None = None

    def __str__(self) -> str:
        return f"{self.race} {self.property} {resolve(self.release, self.added, self.removed).label}"


ROWS = [
    # 53647: pods of a removed node. It was only in 1.8, and it comes back in 1.9 without the fix.
    Row("53647", "L-ISO", "1.8", (), (), V, 709, 1568, 27, 2),
    Row("53647", "L-ISO", "1.8", ("53647",), (), H, 913, 2242, 31),
    Row("53647", "L-ISO", "1.9", (), (), H, 1869, 4938, 34),
    Row("53647", "L-ISO", "1.9", (), ("53647",), V, 1180, 2746, 34, 2),
    # Its residual: a node that goes between the listing and the snapshot.
    Row("53647", "S-ERR", "1.8", ("53647",), (), V, 81, 137, 7, 7),
    Row("53647", "S-ERR", "1.8", ("53647", "node-list-from-cache"), (), H, 194, 388, 23),
    Row("53647", "S-ERR", "1.8", ("node-list-from-cache",), (), V, 43, 75, 5, 5),
    # 72124: nomination visible only after the API round trip.
    Row("72124", "S-NOMVIS", "1.9", (), (), V, 1309, 2748, 17, 17),
    Row("72124", "S-NOMVIS", "1.13", (), (), V, 875, 1738, 15, 15),
    Row("72124", "S-NOMVIS", "1.13", ("72259",), (), H, 8820374, 40582899, 161),
    Row("72124", "S-NOMVIS", "1.14", (), (), H, 12463283, 61848224, 130),
    Row("72124", "S-NOMVIS", "1.14", (), ("72259",), V, 534, 1046, 15, 15),
    Row("72124", "S-NOMVIS", "1.19", (), (), H, 481860, 2031298, 134),
    Row("72124", "S-NOMVIS", "1.19", (), ("72259",), V, 440, 958, 18, 18),
    # Its residual: only all three changes together make S-NOM hold.
    Row("72124", "S-NOM", "1.13", ("72259",), (), V, 3171, 6778, 18, 18),
    Row("72124", "S-NOM", "1.13", ("72259", "77990"), (), V, 3173, 6778, 18, 18),
    Row("72124", "S-NOM", "1.13", ("72259", "90660"), (), V, 1035, 2228, 20, 20),
    Row("72124", "S-NOM", "1.13", ("77990", "90660"), (), V, 399, 804, 17, 17),
    Row("72124", "S-NOM", "1.13", ("72259", "77990", "90660"), (), H, 432951, 1667181, 88),
    # A parked preemptor that the flush brings back while the watch lags loses its nomination in 1.19 again.
    Row("72124", "S-NOM", "1.19", (), (), V, 30345, 108607, 42, 42),
    # 73309: a forgotten move request.
    Row("73309", "S-STUCK", "1.13", ("70366",), (), V, 503763, 1829468, 23, 23),
    Row("73309", "S-STUCK", "1.13", ("73309", "70366"), (), H, 5986890, 27464392, 68),
    Row("73309", "S-STUCK", "1.14", (), ("73309",), V, 411852, 1522998, 23, 23),
    # 93938: the cache forgets a removed node's pods. 1.18 had it, not the releases before; 1.19.0 was mended.
    Row("93938", "S-CAP", "1.15", (), (), H, 976645, 4259566, 89),
    Row("93938", "S-CAP", "1.18", (), (), V, 238, 430, 8, 8),
    Row("93938", "S-CAP", "1.18", ("93938",), (), H, 127757, 510792, 62),
    Row("93938", "S-CAP", "1.19", (), (), H, 306452, 1303325, 91),
    Row("93938", "S-CAP", "1.19", (), ("93938",), V, 241, 491, 8, 8),
    Row("93938", "S-CAP", "1.20", (), ("93938",), V, 240, 491, 8, 8),
    # 95124: what 93938 brought back to 1.19, a dead node in the snapshot. 1.18 had it in a rarer order: a pod is assumed on a node that is gone.
    Row("95124", "S-ERR", "1.18", (), (), V, 168, 293, 10, 10),
    Row("95124", "S-ERR", "1.18", ("95130",), (), H, 10163, 27592, 42),
    Row("95124", "S-ERR", "1.19", (), (), V, 171, 326, 10, 10),
    Row("95124", "S-ERR", "1.19", ("95130",), (), H, 3695, 11840, 43),
    Row("95124", "S-ERR", "1.20", (), ("95130",), V, 171, 326, 10, 10),
    # 91601: a list of nodes that leaves one out. In 1.17 it is made anew for each cycle, and preemption nominates p to the node that it lacks.
    Row("93355", "L-PEND", "1.16", (), (), H, 4186, 15134, 31),
    Row("93355", "L-PEND", "1.17", (), (), H, 972488, 5165608, 87),
    Row("93355", "L-PEND", "1.18", (), (), V, 19429, 77072, 47, 48),
    # The list is made anew for each cycle, as in 1.17, and the next one has the node.
    Row("93355", "L-PEND", "1.18", (), ("list-kept",), H, 57363, 258310, 53),
    Row("93355", "L-PEND", "1.18", ("93355",), (), H, 2282, 8177, 27),
    Row("93355", "L-PEND", "1.19", (), (), H, 2808, 10798, 27),
    Row("93355", "S-SNAP", "1.16", (), (), V, 30, 40, 5, 5),
    Row("93355", "S-SNAP", "1.17", (), (), V, 169, 348, 11, 11),
    Row("93355", "S-SNAP", "1.18", (), (), V, 169, 348, 11, 11),
    Row("93355", "S-SNAP", "1.18", ("93355",), (), H, 2282, 8177, 27),
    # 104521: the failure handler's informer does not have a new pod yet. Only 1.19 has two.
    Row("93044", "L-PEND", "1.18", (), (), H, 10687, 31632, 39),
    Row("93044", "L-PEND", "1.19", (), (), V, 5953, 16115, 28, 28),
    Row("93044", "L-PEND", "1.19", ("93044",), (), H, 5186, 16483, 54),
    Row("93044", "L-PEND", "1.20", (), (), H, 5186, 16483, 54),
    # Later races: a wiped nomination, a phantom preemptor, a backoff cut short, a preemption of nobody.
    Row("74931", "S-NOM", "1.14", ("90660",), (), V, 181, 361, 20, 20),
    Row("74931", "S-NOM", "1.14", ("77990", "90660"), (), H, 1649, 4409, 59),
    Row("102339", "S-NOMLIVE", "1.21", ("109245",), (), V, 222, 432, 12, 12),
    Row("102339", "S-NOMLIVE", "1.21", ("102498", "109245"), (), H, 4492, 13229, 52),
    # Its other half: a pod that was bound meanwhile is nominated in 1.22 and 1.23.
    Row("109236", "S-NOMLIVE", "1.22", (), (), V, 2803, 7695, 39, 39),
    Row("109236", "S-NOMLIVE", "1.23", (), (), V, 3937, 11010, 39, 39),
    Row("109236", "S-NOMLIVE", "1.23", ("109245",), (), H, 5781, 17718, 61),
    Row("109236", "S-NOMLIVE", "1.24", (), (), H, 5487, 16719, 61),
    Row("98828", "S-BACKOFF", "1.20", (), (), V, 184, 354, 15, 15),
    Row("98828", "S-BACKOFF", "1.20", ("98829",), (), H, 694, 1640, 49),
    Row("preemption-of-nobody", "S-GAIN", "1.21", (), (), V, 2249, 5249, 19, 19),
    Row("preemption-of-nobody", "S-GAIN", "1.21", ("101560",), (), H, 260985, 894130, 100),
    # A binding cycle that failed woke nobody; an assumed pod expired.
    Row("forgotten-wakes-nobody", "S-STUCK", "1.22", (), (), V, 28, 41, 13, 13),
    Row("forgotten-wakes-nobody", "S-STUCK", "1.22", ("103805",), (), H, 89, 184, 25),
    Row("waiting-victim", "S-STUCK", "1.22", (), (), V, 2461, 6688, 31, 31),
    Row("waiting-victim", "S-STUCK", "1.23", (), (), H, 17377, 56367, 61),
    Row("106361", "S-CAP", "1.24", (), (), V, 171, 350, 12, 12),
    Row("106361", "S-CAP", "1.24", ("110925",), (), H, 629, 1544, 33),
    # A pod that evens out the zones of those that topology spread rejected, and wakes none of them.
    Row("122626", "S-STUCK", "1.30", (), (), V, 78, 158, 25, 25),
    Row("122626", "S-STUCK", "1.30", ("122627",), (), H, 970, 2822, 49),
    # An error that parked a pod, an update of a pod in flight, a preemption of somebody who is gone.
    Row("104013", "S-STUCK", "1.28", (), (), V, 28, 41, 12, 12),
    Row("104013", "S-STUCK", "1.28", ("119105",), (), H, 51, 80, 24),
    Row("118226", "S-CYCLE", "1.31", ("118438",), (), V, 195, 373, 17, 17),
    Row("118226", "S-CYCLE", "1.31", ("125578", "118438"), (), H, 352, 757, 37),
    Row("141694", "S-STUCK", "1.33", (), (), V, 9591, 34443, 34, 34),
    Row("141694", "S-STUCK", "1.33", ("133167",), (), H, 18039, 68779, 56),
    # A pod that is deleted while it is being bound keeps its room; a victim is chosen again before it is evicted.
    Row("deleted-while-binding", "S-ROOM", "1.34", (), (), V, 49, 79, 6, 6),
    Row("deleted-while-binding", "S-ROOM", "1.34", ("134157",), (), H, 37880, 132263, 64),
    Row("deleted-while-binding", "S-ROOM", "1.35", (), ("134157",), V, 49, 79, 6, 6),
    Row("preempts-again", "S-ONCE", "1.34", (), (), V, 1860, 4506, 20, 20),
    Row("preempts-again", "S-ONCE", "1.34", ("134730",), (), H, 29305, 101335, 68),
    Row("preempts-again", "S-ONCE", "1.35", (), (), H, 22134, 73862, 69),
    # 133167 was taken back for 1.35, and what it had mended is there again.
    Row("141694", "S-STUCK", "1.35", (), (), V, 3294, 10434, 35, 35),
    Row("141694", "S-STUCK", "1.35", ("133167",), (), H, 6038, 19796, 57),
    # A requeued pod is taken before it is in flight no longer.
    Row("dropped-by-pop", "S-CONS", "1.36", (), (), V, 853, 1666, 16, 16),
    Row("dropped-by-pop", "S-CONS", "1.36", ("139450",), (), H, 72705, 224247, 80),
    Row("dropped-by-pop", "S-CONS", "1.31", (), (), H, 2119, 5609, 44),
    # A preemptor that nothing takes for free again, not even the flush.
    Row("gated-past-the-flush", "L-WAKE", "1.36", (), (), V, 3992, 12819, 54, 36),
    Row("gated-past-the-flush", "L-WAKE", "1.36", ("139162",), (), H, 4046, 13026, 54),
    # Pods that are woken again and again keep others from being tried; a pod that nobody wakes, and the flush that does.
    Row("heartbeats", "L-PEND", "1.13", (), (), V, 2953, 9494, 37, 30),
    Row("heartbeats", "L-PEND", "1.13", ("70366",), (), H, 2255, 6591, 37),
    Row("any-of-equals", "L-PEND", "1.13", (), (), V, 4644, 15207, 37, 30),
    Row("any-of-equals", "L-PEND", "1.13", ("71488",), (), H, 3723, 11837, 38),
    Row("parked-for-ever", "L-WAKE", "1.13", ("70366",), (), V, 2923, 6720, 26, 26),
    Row("parked-for-ever", "L-WAKE", "1.13", ("72558", "70366"), (), H, 19296, 63953, 63),
    # The cache loses a node that is there, or keeps a pod that is gone.
    Row("live-read-removes-node", "S-CACHE", "1.8", ("56622",), (), V, 349, 705, 9, 9),
    Row("live-read-removes-node", "S-CACHE", "1.8", ("no-node-check", "56622"), (), H, 12, 14, 5),
    Row("missed-deletion", "S-LEAK", "1.22", (), (), V, 127, 260, 10, 10),
    Row("missed-deletion", "S-LEAK", "1.22", ("106102",), (), H, 355, 819, 26),
    # 50916: a pod that goes, or changes, after it was assumed on another node than the one it is bound to.
    Row("corrupted-cache", "S-EXIT", "1.8", (), (), V, 1128, 2924, 19, 19),
    Row("corrupted-cache", "S-EXIT", "1.8", ("55262",), (), H, 2025, 5950, 29),
    Row("corrupted-cache", "S-EXIT", "1.9", (), (), H, 2524, 7295, 30),
    Row("corrupted-cache", "S-EXIT", "1.9", (), ("55262",), V, 1359, 3461, 19, 19),
    # A Binding that succeeded although its reply was lost; a restart.
    Row("bound-but-requeued", "S-REQUEUE", "1.20", (), (), V, 55, 100, 11, 11),
    Row("bound-but-requeued", "S-REQUEUE", "1.20", ("assigned-not-requeued",), (), H, 153, 309, 28),
    Row("restart-before-handlers", "S-CAP", "1.27", (), (), V, 938, 2128, 13, 13),
    Row("restart-before-handlers", "S-CAP", "1.27", ("116729",), (), H, 1652, 4541, 36),
    # What the queue keeps of pods that were popped: who rejected them, which events came, that they are in flight.
    Row("old-rejection", "S-STUCK", "1.28", ("119105",), (), V, 488, 944, 29, 29),
    Row("old-rejection", "S-STUCK", "1.28", ("120334", "119105"), (), H, 1539, 3689, 58),
    Row("gate-outlives-removal", "S-STUCK", "1.28", (), (), V, 36, 49, 17, 17),
    Row("gate-outlives-removal", "S-STUCK", "1.28", ("120334",), (), H, 93, 189, 28),
    Row("event-list", "S-STUCK", "1.28", (), (), V, 9660, 28536, 25, 25),
    Row("event-list", "S-STUCK", "1.28", ("120413",), (), H, 45393, 155600, 72),
    Row("skipped-in-flight", "S-FLIGHT", "1.31", ("118438",), (), V, 259, 520, 25, 25),
    Row("skipped-in-flight", "S-FLIGHT", "1.31", ("126962", "118438"), (), H, 398, 851, 37),
    # Properties that the releases keep in the cluster of 72124.
    Row("72124", "S-CAP", "1.19", (), (), H, 481860, 2031298, 134),
    Row("72124", "S-CONS", "1.13", (), (), H, 8657115, 40073030, 154),
    Row("72124", "S-CONS", "1.19", (), (), H, 481860, 2031298, 134),
    Row("72124", "S-STUCK", "1.13", ("70366",), (), V, 103564, 331303, 29, 29),
    Row("72124", "S-STUCK", "1.19", (), (), H, 481860, 2031298, 134),
    # 122626: an update of an assigned pod is told to those with an affinity term for it only.
    Row("label-lost", "S-STUCK", "1.21", (), (), V, 134, 252, 15, 15),
    Row("label-lost", "S-STUCK", "1.30", (), (), V, 134, 252, 15, 15),
    Row("label-lost", "S-STUCK", "1.31", (), (), V, 134, 252, 15, 15),
    Row("label-lost", "S-STUCK", "1.31", ("hints-decide",), (), H, 372, 793, 37),
    Row("label-lost", "S-STUCK", "1.32", (), (), H, 287, 630, 36),
    Row("label-lost", "S-STUCK", "1.32", (), ("hints-decide",), V, 123, 228, 15, 15),
    Row("label-lost", "S-STUCK", "1.36", (), (), H, 185, 342, 35),
    # Nodes that change: what of an update reaches the pods that wait for it.
    # A name that is used again: a Binding for the pod that is gone, and an attempt that goes on for the other.
    Row("namesake-bound", "S-IDENT", "1.13", (), (), V, 57, 90, 8, 8),
    Row("namesake-bound", "S-IDENT", "1.22", (), (), V, 83, 163, 8, 8),
    Row("namesake-bound", "S-IDENT", "1.22", ("105913",), (), H, 2578, 7719, 41),
    Row("namesake-bound", "S-IDENT", "1.23", (), (), H, 2741, 8302, 42),
    Row("namesake-bound", "S-IDENT", "1.24", (), (), H, 2741, 8302, 42),
    Row("namesake-bound", "S-IDENT", "1.25", (), (), V, 83, 163, 8, 8),
    Row("namesake-bound", "S-IDENT", "1.25", ("116550",), (), H, 2741, 8302, 42),
    Row("namesake-bound", "S-IDENT", "1.26", (), (), V, 83, 163, 8, 8),
    Row("namesake-bound", "S-IDENT", "1.27", (), (), H, 2741, 8302, 42),
    Row("namesake-bound", "S-IDENT", "1.27", (), ("116550",), V, 83, 163, 8, 8),
    Row("namesake-bound", "S-IDENT", "1.36", (), (), H, 1143, 3095, 40),
    Row("namesake-bound", "S-IDENT", "1.36", (), ("105913",), V, 92, 180, 8, 8),
    Row("namesake-in-flight", "S-FLIGHT", "1.28", (), (), V, 406, 827, 13, 13),
    Row("namesake-in-flight", "S-FLIGHT", "1.34.4", (), (), V, 446, 903, 13, 13),
    Row("namesake-in-flight", "S-FLIGHT", "1.35", (), (), V, 489, 1005, 13, 13),
    Row("namesake-in-flight", "S-FLIGHT", "1.35", ("138324",), (), H, 2338, 6379, 36),
    Row("namesake-in-flight", "S-FLIGHT", "1.36", (), (), H, 2281, 6233, 35),
    Row("namesake-in-flight", "S-FLIGHT", "1.36", (), ("138324",), V, 482, 990, 13, 13),
    Row("swapped-by-a-list", "S-EXIT", "1.13", (), (), H, 7962, 25369, 35),
    Row("swapped-by-a-list", "S-EXIT", "1.34", (), (), H, 1996, 5295, 38),
    Row("swapped-by-a-list", "S-EXIT", "1.35", (), (), V, 21, 28, 4, 4),
    Row("swapped-by-a-list", "S-EXIT", "1.36", (), (), V, 21, 28, 4, 4),
    Row("swapped-by-a-list", "S-EXIT", "1.36", ("141255",), (), H, 53, 78, 15),
    Row("taint-removed", "S-STUCK", "1.21", (), (), H, 1783, 4883, 42),
    Row("taint-removed", "S-STUCK", "1.22", (), (), V, 601, 1420, 18, 18),
    Row("taint-removed", "S-STUCK", "1.23", (), (), V, 601, 1420, 18, 18),
    Row("taint-removed", "S-STUCK", "1.23", ("109442",), (), H, 1831, 4991, 42),
    Row("taint-removed", "S-STUCK", "1.23.17", (), (), H, 1831, 4991, 42),
    Row("taint-removed", "S-STUCK", "1.24", (), (), H, 1831, 4991, 42),
    Row("taint-removed", "S-STUCK", "1.24", (), ("109442",), V, 601, 1420, 18, 18),
    Row("taint-removed", "S-STUCK", "1.31", (), (), H, 1467, 3977, 42),
    Row("taint-removed", "S-STUCK", "1.32", (), (), H, 1242, 3399, 41),
    Row("taint-removed", "S-STUCK", "1.36", (), (), H, 1109, 3179, 39),
    # The same where a port is wanted. A hint that looks at a new node is what NodeResourcesFit has, and NodePorts has not.
    Row("port-behind-taint", "S-STUCK", "1.21", (), (), H, 1783, 4883, 42),
    Row("port-behind-taint", "S-STUCK", "1.22", (), (), V, 601, 1420, 18, 18),
    Row("port-behind-taint", "S-STUCK", "1.22.17", (), (), H, 1831, 4991, 42),
    Row("port-behind-taint", "S-STUCK", "1.23", (), (), V, 601, 1420, 18, 18),
    Row("port-behind-taint", "S-STUCK", "1.23", ("109442",), (), H, 1831, 4991, 42),
    Row("port-behind-taint", "S-STUCK", "1.24", (), ("109442",), V, 601, 1420, 18, 18),
    Row("port-behind-taint", "S-STUCK", "1.32", (), (), H, 1242, 3399, 41),
    Row("port-behind-taint", "S-STUCK", "1.36", (), (), H, 1171, 3353, 40),
    Row("tainted-arrival", "S-STUCK", "1.21", (), (), H, 1601, 4412, 39),
    Row("tainted-arrival", "S-STUCK", "1.24", (), (), V, 601, 1420, 18, 18),
    Row("tainted-arrival", "S-STUCK", "1.29", (), (), V, 586, 1400, 18, 18),
    Row("tainted-arrival", "S-STUCK", "1.29", ("122292",), (), H, 1285, 3506, 39),
    Row("tainted-arrival", "S-STUCK", "1.30", (), (), H, 1285, 3506, 39),
    Row("tainted-arrival", "S-STUCK", "1.30", (), ("122292",), V, 586, 1400, 18, 18),
    Row("tainted-arrival", "S-STUCK", "1.32", (), (), H, 1146, 3151, 37),
    Row("tainted-arrival", "S-STUCK", "1.36", (), (), H, 1138, 3295, 36),
    Row("two-changes", "S-STUCK", "1.21", (), (), H, 333, 760, 38),
    Row("two-changes", "S-STUCK", "1.22", (), (), V, 159, 325, 17, 17),
    Row("two-changes", "S-STUCK", "1.29", (), (), V, 159, 325, 17, 17),
    Row("two-changes", "S-STUCK", "1.29", ("121755",), (), H, 678, 1817, 39),
    Row("two-changes", "S-STUCK", "1.30", (), (), H, 678, 1817, 39),
    Row("two-changes", "S-STUCK", "1.30", (), ("121755",), V, 159, 325, 17, 17),
    Row("two-changes", "S-STUCK", "1.36", (), (), H, 262, 537, 36),
    Row("remade-behind-a-list", "S-STUCK", "1.21", (), (), H, 10890, 34686, 52),
    Row("remade-behind-a-list", "S-STUCK", "1.22", (), (), V, 4756, 14232, 22, 22),
    Row("remade-behind-a-list", "S-STUCK", "1.29", (), (), V, 4756, 14232, 22, 22),
    Row("remade-behind-a-list", "S-STUCK", "1.29", ("121755",), (), H, 18643, 61123, 56),
    Row("remade-behind-a-list", "S-STUCK", "1.30", (), (), H, 18643, 61123, 56),
    Row("remade-behind-a-list", "S-STUCK", "1.30", (), ("121755",), V, 4756, 14232, 22, 22),
    Row("remade-behind-a-list", "S-STUCK", "1.36", (), (), H, 13852, 43636, 47),
    Row("keyless-node", "S-STUCK", "1.31", (), (), H, 313, 710, 36),
    Row("keyless-node", "S-STUCK", "1.32", (), (), V, 116, 235, 15, 15),
    Row("keyless-node", "S-STUCK", "1.32", ("127470",), (), H, 262, 607, 34),
    Row("keyless-node", "S-STUCK", "1.33", (), (), H, 291, 683, 33),
    Row("keyless-node", "S-STUCK", "1.33", (), ("127470",), V, 116, 235, 15, 15),
    Row("keyless-node", "S-STUCK", "1.36", (), (), H, 201, 406, 33),
    # 125491: nothing says for which node a pod waits at PreBind, and the autoscaler takes that node away.
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.17", (), (), V, 31, 43, 7, 7),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.22", (), (), V, 30, 42, 7, 7),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.34", (), (), V, 30, 42, 7, 7),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.34", ("133021",), (), H, 2716, 8842, 35),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.35", (), (), H, 225, 507, 20),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.35", (), ("133021",), V, 30, 42, 7, 7),
    Row("scaled-down-under-pre-bind", "S-SCALE", "1.36", (), (), H, 163, 328, 20),
    # 106884: a kubelet counts a pod on that it has said to have finished.
    Row("counted-by-its-kubelet", "S-ADMIT", "1.21", (), (), H, 524, 1383, 38),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.22", (), (), V, 130, 256, 10, 10),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.23", (), (), V, 130, 256, 10, 10),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.23", ("108366",), (), H, 524, 1383, 38),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.24", (), (), H, 524, 1383, 38),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.24", (), ("108366",), V, 130, 256, 10, 10),
    Row("counted-by-its-kubelet", "S-ADMIT", "1.36", (), (), H, 239, 480, 36),
    # 135296: a kubelet counts a pod that it has rejected while its worker ends it.
    Row("counted-when-rejected", "S-ADMIT", "1.21", (), (), H, 66799, 237812, 61),
    Row("counted-when-rejected", "S-ADMIT", "1.22", (), (), H, 66799, 237812, 61),
    Row("counted-when-rejected", "S-ADMIT", "1.22.17", (), (), V, 9094, 26127, 15, 15),
    Row("counted-when-rejected", "S-ADMIT", "1.23", (), (), V, 9271, 26556, 15, 15),
    Row("counted-when-rejected", "S-ADMIT", "1.36", (), (), V, 4028, 10005, 15, 15),
    Row("counted-when-rejected", "S-ADMIT", "1.36", ("139522",), (), H, 90038, 341042, 64),
    Row("counted-when-rejected", "S-ADMIT", "1.36.4", (), (), V, 4028, 10005, 15, 15),
    Row("counted-when-rejected", "S-ADMIT", "1.37", (), (), H, 90038, 341042, 64),
    Row("counted-when-rejected", "S-ADMIT", "1.37", (), ("139522",), V, 4028, 10005, 15, 15),
    # 110175: a taint takes a zone away, and the pre-check asks whether the pod fits on the very node. Before 1.26 taints counted for nothing.
    Row("tainted-domain", "S-STUCK", "1.26", (), (), V, 149, 300, 16, 16),
    Row("tainted-domain", "S-STUCK", "1.29", (), (), V, 149, 300, 16, 16),
    Row("tainted-domain", "S-STUCK", "1.31", (), (), V, 149, 300, 16, 16),
    Row("tainted-domain", "S-STUCK", "1.31", ("hints-decide",), (), H, 409, 908, 40),
    Row("tainted-domain", "S-STUCK", "1.32", (), (), H, 356, 808, 39),
    Row("tainted-domain", "S-STUCK", "1.32", (), ("hints-decide",), V, 138, 276, 16, 16),
    Row("tainted-domain", "S-STUCK", "1.36", (), (), H, 246, 482, 38),
    # 125332: something is left under the name of a pod that a taint has driven away.
    # A pod that has been Pending since it was bound cannot be evicted, although its budget does not count it.
    Row("undrained-while-pending", "S-DRAIN", "1.18", (), (), V, 125, 287, 12, 12),
    Row("undrained-while-pending", "S-DRAIN", "1.18", ("83906",), (), H, 2090, 7580, 22),
    Row("undrained-while-pending", "S-DRAIN", "1.19", (), (), H, 2090, 7580, 22),
    Row("undrained-while-pending", "S-DRAIN", "1.19", (), ("83906",), V, 125, 287, 12, 12),
    # 94381, which came later, lets it go, too.
    Row("undrained-while-pending", "S-DRAIN", "1.20", (), ("83906",), H, 2270, 8178, 22),
    Row("undrained-while-pending", "S-DRAIN", "1.36", (), (), H, 769, 2042, 21),
    # 68892: a pod that has ended cannot be evicted where its budget allows nothing.
    Row("undrained-when-ended", "S-DRAIN", "1.9", (), (), V, 107, 213, 5, 5),
    Row("undrained-when-ended", "S-DRAIN", "1.12", (), (), V, 107, 213, 5, 5),
    Row("undrained-when-ended", "S-DRAIN", "1.12", ("68892",), (), H, 54, 99, 8),
    Row("undrained-when-ended", "S-DRAIN", "1.13", (), (), H, 54, 99, 8),
    Row("undrained-when-ended", "S-DRAIN", "1.13", (), ("68892",), V, 107, 213, 5, 5),
    Row("undrained-when-ended", "S-DRAIN", "1.37", (), (), H, 54, 99, 8),
    # 80389: a pod that is not ready takes from its budget, which does not count it.
    Row("undrained", "S-DRAIN", "1.9", (), (), V, 54, 76, 3, 3),
    Row("undrained", "S-DRAIN", "1.19", (), (), V, 54, 76, 3, 3),
    Row("undrained", "S-DRAIN", "1.19", ("94381",), (), H, 593, 1652, 11),
    Row("undrained", "S-DRAIN", "1.20", (), (), H, 593, 1652, 11),
    Row("undrained", "S-DRAIN", "1.20", (), ("94381",), V, 54, 76, 3, 3),
    Row("undrained", "S-DRAIN", "1.36", (), (), H, 593, 1652, 11),
    # 96515: a pod that was deleted and has stopped, and whose object stays.
    Row("ended-and-kept", "S-LINGER", "1.22", (), (), V, 550, 1337, 16, 16),
    Row("ended-and-kept", "S-LINGER", "1.26", (), (), V, 550, 1337, 16, 16),
    Row("ended-and-kept", "S-LINGER", "1.26", ("115331",), (), H, 2165, 6475, 41),
    Row("ended-and-kept", "S-LINGER", "1.27", (), (), H, 2165, 6475, 41),
    Row("ended-and-kept", "S-LINGER", "1.27", (), ("115331",), V, 550, 1337, 16, 16),
    Row("ended-and-kept", "S-LINGER", "1.36", (), (), H, 654, 1649, 39),
    # 72129: a node that has joined, and has no taint yet.
    Row("untainted-arrival", "S-READY", "1.12", (), (), V, 1061, 2655, 9, 9),
    Row("untainted-arrival", "S-READY", "1.13", (), (), V, 1061, 2655, 9, 9),
    Row("untainted-arrival", "S-READY", "1.13", ("73097",), (), H, 2701722, 14271805, 64),
    Row("untainted-arrival", "S-READY", "1.14", (), (), H, 2712849, 14077768, 65),
    Row("untainted-arrival", "S-READY", "1.14", (), ("73097",), V, 1043, 2624, 9, 9),
    Row("untainted-arrival", "S-READY", "1.36", (), (), H, 645930, 3060961, 65),
    Row("kept-name", "S-KEPT", "1.9", (), (), V, 114, 253, 7, 7),
    Row("kept-name", "S-KEPT", "1.32", (), (), V, 114, 253, 7, 7),
    Row("kept-name", "S-KEPT", "1.32", ("129577",), (), H, 714, 2560, 18),
    Row("kept-name", "S-KEPT", "1.33", (), (), H, 714, 2560, 18),
    Row("kept-name", "S-KEPT", "1.33", (), ("129577",), V, 114, 253, 7, 7),
    Row("kept-name", "S-KEPT", "1.36", (), (), H, 714, 2560, 18),
    # 122019: nothing is recorded of what an extender rejects. From 1.24 to 1.31 the plugins asked for every update of a node, as in 1.28 here.
    Row("unheard-extender", "S-STUCK", "1.21", (), (), H, 412, 924, 40),
    Row("unheard-extender", "S-STUCK", "1.22", (), (), V, 149, 300, 16, 16),
    Row("unheard-extender", "S-STUCK", "1.23", (), (), V, 149, 300, 16, 16),
    Row("unheard-extender", "S-STUCK", "1.23", ("122022",), (), H, 412, 924, 40),
    Row("unheard-extender", "S-STUCK", "1.28", (), (), H, 415, 913, 40),
    Row("unheard-extender", "S-STUCK", "1.36", (), (), H, 317, 637, 38),
    Row("unheard-extender", "S-STUCK", "1.36", (), ("122022",), V, 102, 200, 16, 16),
    # 133602: a device for two claims, which 136269 mends in two ways; each alone leaves the other.
    Row("device-twice", "S-DEV", "1.35", (), (), V, 2388, 7510, 30, 30),
    Row("device-twice", "S-DEV", "1.35", ("136269",), (), V, 3756, 11983, 33, 33),
    Row("device-twice", "S-DEV", "1.35", ("136269-events",), (), V, 1621, 4713, 30, 30),
    Row("device-twice", "S-DEV", "1.35", ("136269", "136269-events"), (), H, 3182, 9408, 42),
    Row("device-twice", "S-DEV", "1.36", (), (), H, 2390, 6795, 41),
    Row("device-twice", "S-DEV", "1.36", (), ("136269", "136269-events"), V, 2001, 6209, 30, 30),
    Row("device-twice", "S-DEV", "1.36", (), ("136269",), V, 1352, 3836, 30, 30),
    Row("device-twice", "S-DEV", "1.36", (), ("136269-events",), V, 3066, 9591, 33, 33),
    Row("device-twice", "S-DEV", "1.34", (), (), V, 1289, 3489, 28, 28),
    Row("device-twice", "S-DEV", "1.34.4", (), (), H, 2274, 6359, 40),
    # 133872: the queue is told of a volume before the assume cache is.
    Row("volume-told-early", "L-VOL", "1.34", (), (), V, 350, 799, 17, 17),
    Row("volume-told-early", "L-VOL", "1.34", ("133929",), (), H, 1119, 3143, 51),
    Row("volume-told-early", "L-VOL", "1.34.4", (), (), V, 350, 799, 17, 17),
    Row("volume-told-early", "L-VOL", "1.35", (), (), H, 1390, 4123, 54),
    Row("volume-told-early", "L-VOL", "1.35", (), ("133929",), V, 373, 858, 17, 17),
    Row("volume-told-early", "L-VOL", "1.36", (), (), H, 1225, 3508, 53),
    Row("volume-told-early", "S-STUCK", "1.34", (), (), V, 350, 799, 17, 17),
    Row("volume-told-early", "S-STUCK", "1.34", ("133929",), (), H, 1119, 3143, 51),
    Row("volume-told-early", "S-STUCK", "1.35", (), (), H, 1390, 4123, 54),
    Row("volume-told-early", "S-STUCK", "1.35", (), ("133929",), V, 373, 858, 17, 17),
    # Groups of pods (behind GangScheduling, which their scenarios set): gangs hold what the other waits for, pod by pod; and states that know too much.
    Row("gangs-deadlock", "L-DEADLOCK", "1.35", (), (), V, 419, 905, 42, 42),
    Row("gangs-deadlock", "L-DEADLOCK", "1.35", ("136618",), (), H, 26550, 89506, 78),
    Row("gangs-deadlock", "L-DEADLOCK", "1.36", (), (), H, 9920, 27064, 76),
    Row("gangs-deadlock", "L-DEADLOCK", "1.36", (), ("136618",), V, 419, 905, 42, 42),
    Row("dismissed-member", "S-DISMISSED", "1.36", (), (), V, 550, 1034, 15, 15),
    Row("dismissed-member", "S-DISMISSED", "1.36.3", (), (), V, 550, 1034, 15, 15),
    Row("dismissed-member", "S-DISMISSED", "1.36", ("138445",), (), H, 829566, 3062369, 106),
    Row("stranger-in-group", "S-EXIT", "1.35", (), (), V, 2760, 5449, 21, 21),
    Row("stranger-in-group", "S-EXIT", "1.36", (), ("136618",), V, 2624, 5129, 21, 21),
    Row("stranger-in-group", "S-EXIT", "1.36", (), (), H, 303506, 974228, 89),
    Row("stranger-in-group", "S-EXIT", "1.35", ("136618",), (), H, 663690, 2423220, 116),
    # 137617: pods of a gang that share a claim. What is left with 137647, 137897 and 139418 mend.
    Row("shared-in-flight", "L-GANG", "1.35", (), (), V, 62, 101, 26, 26),
    Row("shared-in-flight", "L-GANG", "1.35", ("136618",), (), V, 170, 311, 65, 66),
    Row("shared-in-flight", "L-GANG", "1.35", ("137647",), (), V, 62, 101, 26, 26),
    Row("shared-in-flight", "L-GANG", "1.36", ("139418",), ("137647",), V, 170, 311, 65, 66),
    Row("shared-in-flight", "L-GANG", "1.36", ("139418",), (), H, 404421, 1288806, 128),
    Row("shared-in-flight", "L-GANG", "1.36", ("139418",), ("137897",), V, 4577568, 16777329, 111, 115),
    Row(
        "shared-in-flight",
        "L-GANG",
        "1.35",
        ("136618", "137647", "137897", "139418"),
        (),
        H,
        1646226,
        6549349,
        163,
    ),
    # 83922: a cycle goes through the live tree of nodes; before there was a tree, through the lister's list.
    Row("live-tree", "S-SNAP", "1.9", (), (), V, 45, 69, 5, 5),
    Row("live-tree", "S-SNAP", "1.12", (), (), V, 33, 45, 5, 5),
    Row("live-tree", "S-SNAP", "1.16", (), (), V, 33, 45, 5, 5),
    Row("live-tree", "S-SNAP", "1.16", ("84014",), (), H, 282, 676, 16),
    Row("live-tree", "S-SNAP", "1.17", (), (), H, 282, 676, 16),
    Row("live-tree", "S-SNAP", "1.17", (), ("84014",), V, 33, 45, 5, 5),
    Row("live-tree", "S-SNAP", "1.20", (), (), H, 332, 928, 16),
    # A signal that came before the binding cycle listened was lost. In 1.16 the time-out was the binding cycle's own, and came all the same.
    Row("unheard-signal", "L-PROG", "1.16", (), (), H, 308, 584, 37),
    Row("unheard-signal", "L-PROG", "1.17", (), (), V, 16, 15, 8, 8),
    Row("unheard-signal", "L-PROG", "1.17", ("buffered-signal",), (), H, 27, 43, 12),
    Row("unheard-signal", "L-PROG", "1.17", (), ("permit-timers",), H, 396, 820, 38),
    Row("unheard-signal", "L-PROG", "1.18", (), (), H, 27, 43, 12),
    Row("unheard-signal", "L-PROG", "1.18", (), ("buffered-signal",), V, 16, 15, 8, 8),
    # 134393: a deleted pod, and the one that its anti-affinity kept out. Up to 1.31 every deletion woke it.
    Row("repelled-by-the-deleted", "S-STUCK", "1.31", (), (), H, 344, 729, 34),
    Row("repelled-by-the-deleted", "S-STUCK", "1.32", (), (), V, 165, 317, 15, 15),
    Row("repelled-by-the-deleted", "S-STUCK", "1.35", (), (), V, 171, 313, 15, 15),
    Row("repelled-by-the-deleted", "S-STUCK", "1.35", ("135325",), (), H, 283, 569, 32),
    Row("repelled-by-the-deleted", "S-STUCK", "1.36", (), (), H, 244, 465, 31),
    Row("repelled-by-the-deleted", "S-STUCK", "1.36", (), ("135325",), V, 164, 298, 15, 15),
    Row("repelled-by-the-deleted", "S-STUCK", "1.37", (), (), H, 244, 465, 31),
]


def test_every_race_is_seen_to_go_with_its_fixes() -> None:
    """What `podrace check` says of a race of the catalogue without searching for it."""
    seen = {
        (name, row.property, exact(row.release), frozenset(row.added))
        for row in ROWS
        if (row.verdict, row.removed) == (H, ())
        for name in [find_scenarios(row.race)[0].name]
    }
    races = [(s, s.race) for s in catalogue() if s.race is not None]
    asked = {(s.name, name, s.release, frozenset(race.after)) for s, race in races for name in s.properties}
    assert asked <= seen


def run(row: Row) -> Result:
    (scenario,) = find_scenarios(row.race)
    composition = resolve(row.release, row.added, row.removed, dict(scenario.feature_gates))
    asked = PROPERTIES[row.property].ignoring(frozenset(scenario.silenced.get(row.property, {})))
    (result,) = check(instrument(scenario.spec, composition.classes, [asked]), [row.property])
    return result


def is_a_scenarios_own(row: Row) -> bool:
    """Whether it is what a scenario says: its release, its property, the race there."""
    (scenario,) = find_scenarios(row.race)
    beside = scenario.race.beside if scenario.race else ()
    own = (row.release, row.added, row.removed) == (canonical(scenario.release or ""), beside, ())
    return own and row.verdict == V and row.property in scenario.properties


def priced(row: Row) -> Any:
    large = row.states > LARGE and not is_a_scenarios_own(row)
    return pytest.param(row, id=str(row), marks=[pytest.mark.ci] if large else [])


@pytest.mark.parametrize("row", [priced(row) for row in ROWS])
def test_verdict_and_counts(row: Row) -> None:
    found = run(row)
    steps = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, found.counts.transitions, found.counts.depth, steps) == (
        row.verdict, row.states, row.transitions, row.depth, row.steps,
    )  # fmt: skip
    assert not found.vacuous
    assert found.stopped in (None, "answered")


SEEDS = {("53647", "L-ISO"): ("1.8",), ("72124", "S-NOMVIS"): ("1.9", "1.12", "1.13")}
"""The releases that have the seed races."""


def unchanged(race: str, name: str) -> dict[str, str]:
    """The verdict of the table on each release as it is."""
    rows = (row for row in ROWS if (row.race, row.property) == (race, name))
    return {row.release: row.verdict for row in rows if not (row.added or row.removed)}


def elsewhere(race: str, name: str) -> list[Any]:
    """The releases that the table has not; every run takes the first, the last, and those next to a release of the table, `make nightly` the others."""
    known = unchanged(race, name)
    rest = [r for r in RELEASE_ORDER if r not in known]
    near = {rest[0], rest[-1], *(r for r, following in pairwise(RELEASE_ORDER) if following in known)}
    marks = {r: [] if r in near else [pytest.mark.nightly] for r in rest}
    return [pytest.param(race, name, r, id=f"{race} {name} {r}", marks=marks[r]) for r in rest]


@pytest.mark.parametrize(("race", "name", "release"), [case for seed in SEEDS for case in elsewhere(*seed)])
def test_the_seed_races_are_in_exactly_the_releases_that_had_them(race: str, name: str, release: str) -> None:
    found = run(Row(race, name, release, (), (), V, 0, 0, 0))
    assert found.verdict is (Verdict.VIOLATED if release in SEEDS[race, name] else Verdict.HOLDS)


@pytest.mark.parametrize(("race", "name"), SEEDS)
def test_the_table_has_them_in_the_same_releases(race: str, name: str) -> None:
    """What it has is not explored a second time."""
    known = unchanged(race, name)
    assert len(known) > 1
    assert known == {release: V if release in SEEDS[race, name] else H for release in known}


def test_every_race_of_the_catalogue_is_tested_before_and_after_its_fix() -> None:
    for scenario in catalogue():
        if scenario.race is None or scenario.release is None:
            continue
        for name in scenario.properties:
            rows = [r for r in ROWS if r.race in scenario.selectors and r.property == name]
            verdicts = {(r.release, r.added, r.removed): r.verdict for r in rows}
            assert verdicts[canonical(scenario.release) or "", scenario.race.beside, ()] == V
            assert verdicts[canonical(scenario.release) or "", scenario.race.after, ()] == H


def test_a_property_that_nothing_can_test_is_vacuous() -> None:
    found = run(Row("72124", "S-NOMVIS", "1.8", (), (), H, 1, 0, 0))
    assert found.verdict is Verdict.HOLDS
    assert found.vacuous, "1.8 does not preempt"
