"""Reading and reducing manifests: the realistic dump of the tests, and four and sixteen times as large, beside PyYAML's loaders.

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

from podrace.scenarios.manifests import read_manifests, represent

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


def main() -> None:
    """Print one line for each size."""
    dump = runpy.run_path(str(DUMP))["dump"]
    print(f"{'nodes':>6}{'pods':>7}{'MB':>7}{'read':>9}{'reduce':>9}{'libyaml':>9}{'PyYAML':>9}")
    for scale in (1, 4, 16):
        text = dump(scale)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "dump.yaml"
            file.write_text(text)
            inventory = read_manifests([str(file)])
            times = [
                least(lambda file=file: read_manifests([str(file)])),
                least(lambda one=inventory: represent(one)),
            ]
        times.append(least(lambda text=text: yaml.load(text, Loader=yaml.CSafeLoader)))
        plain = least(lambda text=text: yaml.safe_load(text), 1) if scale == 1 else None
        pods = len(inventory.bound) + len(inventory.pending)
        shown = "".join(f"{t:>8.2f}s" for t in times) + (
            f"{plain:>8.2f}s" if plain is not None else f"{'-':>9}"
        )
        print(f"{len(inventory.nodes):>6}{pods:>7}{len(text) / 1e6:>7.1f}{shown}")


if __name__ == "__main__":
    main()
