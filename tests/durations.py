"""How long the slow tests take, so that `make test` can leave most of them to CI.

    make test-all PYTEST_ARGS="-n 2 --junitxml=build/tests.xml" && python -m tests.durations build/tests.xml

writes tests/durations.tsv: CPU seconds of all cases of a test together, on one machine; only how they compare counts. In the profile `fast`, a test gets
`ALLOWED` seconds: it keeps as many of its cases as fit, evenly chosen, or none. Random tests take a tenth of the time there, as they take a tenth of the examples.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

FILE = Path(__file__).with_name("durations.tsv")
ALLOWED = 0.6
"""So many seconds of a test are in `make test`."""


def read() -> dict[str, float]:
    """Seconds by test, such as tests/cli/find/test_check.py::test_it."""
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    return {name: float(seconds) for seconds, name in rows}


def kept(seconds: float, cases: int) -> list[int]:
    """The numbers of the cases that fit into ALLOWED seconds; all of them if the test does."""
    if seconds <= ALLOWED:
        return list(range(cases))
    fit = int(cases * ALLOWED / seconds)
    return [number * cases // fit for number in range(fit)]


def left_out(items: Sequence[Any], durations: Mapping[str, float]) -> Iterable[Any]:
    """The collected tests that `make test` leaves to CI."""
    for name, cases in _by_test(items).items():
        random = getattr(getattr(cases[0], "obj", None), "is_hypothesis_test", False)
        seconds = durations.get(name, 0.0) / (10 if random else 1)
        chosen = set(kept(seconds, len(cases)))
        yield from (case for number, case in enumerate(cases) if number not in chosen)


def for_the_night(items: Sequence[Any]) -> Iterable[Any]:
    """The collected tests of which other cases are the representatives."""
    marked = [
        item
        for item in items
        if item.get_closest_marker("representatives") and not item.get_closest_marker("campaign")
    ]
    for cases in _by_test(marked).values():
        (count,) = cases[0].get_closest_marker("representatives").args
        chosen = {number * len(cases) // count for number in range(count)}
        yield from (case for number, case in enumerate(cases) if number not in chosen)


def _by_test(items: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return found


def cpu() -> float:
    """CPU seconds of this process and of those that it has waited for: unlike the time by the clock, what else runs hardly changes it."""
    return sum(os.times()[:4])


def measured(report: Path) -> dict[str, float]:
    """Seconds by test, as a JUnit report has them; only of those that take more than ALLOWED."""
    found: defaultdict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        module, *classes = _split(case.attrib["classname"])
        name = "::".join([module, *classes, case.attrib["name"].partition("[")[0]])
        found[name] += sum(
            float(row.attrib["value"]) for row in case.iterfind("properties/property[@name='cpu']")
        )
    return {name: seconds for name, seconds in found.items() if seconds > ALLOWED}


def _split(classname: str) -> list[str]:
    parts = classname.split(".")
    end = next(i for i in range(len(parts), 0, -1) if Path(*parts[:i]).with_suffix(".py").is_file())
    return [f"{'/'.join(parts[:end])}.py", *parts[end:]]


def main() -> None:
    """Write the table of what was measured."""
    found = measured(Path(sys.argv[1]))
    FILE.write_text(
        "".join(f"{seconds:.1f}\t{name}\n" for name, seconds in sorted(found.items())), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
