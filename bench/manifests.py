"""Reading and reducing manifests: the realistic dump of the tests, and four times as large, beside PyYAML's loaders.

For each: the size, and the seconds (the least of RUNS) for podrace to read it with places and all checks, to find the
representative, and for PyYAML alone to load it with libyaml and without.
"""

from __future__ import annotations

import runpy
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from podrace.manifests import read_manifests, represent

RUNS = 3
DUMP = Path(__file__).parents[1] / "tests" / "kubectl_dump.py"


def least(action: Callable[[], object], runs: int = RUNS) -> float:
    """The least of several times."""
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return min(found)


def line(text: str, without_libyaml: bool) -> str:
    """What one dump takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "dump.yaml"
        file.write_text(text)
        inventory = read_manifests([str(file)])
        times = [least(lambda: read_manifests([str(file)])), least(lambda: represent(inventory))]
    times.append(least(lambda: yaml.load(text, Loader=yaml.CSafeLoader)))
    plain = f"{least(lambda: yaml.safe_load(text), 1):>8.2f}s" if without_libyaml else f"{'-':>9}"
    pods = len(inventory.bound) + len(inventory.pending)
    shown = "".join(f"{t:>8.2f}s" for t in times)
    return f"{len(inventory.nodes):>6}{pods:>7}{len(text) / 1e6:>7.1f}{shown}{plain}"


def main() -> None:
    """Print one line for each size."""
    dump = runpy.run_path(str(DUMP))["dump"]
    print(f"{'nodes':>6}{'pods':>7}{'MB':>7}{'read':>9}{'reduce':>9}{'libyaml':>9}{'PyYAML':>9}")
    for scale in (1, 4):
        print(line(dump(scale), scale == 1))


if __name__ == "__main__":
    main()
