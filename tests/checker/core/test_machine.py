"""What the machine lends to a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.core.machine import cores, safe_memory

GB = 1 << 30


def machine(folder: Path, **files: str) -> tuple[Path, Path]:
    """Stand-ins for /proc and /sys/fs/cgroup."""
    for name, text in {
        "proc/meminfo": f"MemTotal: 9 kB\nMemAvailable:   {10 * GB // 1024} kB\n",
        **files,
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder / "proc", folder / "cgroup"


def test_a_share_of_what_is_free(tmp_path: Path) -> None:
    assert safe_memory(*machine(tmp_path)) == 8 * GB


@pytest.mark.parametrize(
    ("groups", "lines"),
    [
        ({"a/b/memory.max": str(4 * GB), "a/b/memory.current": str(2 * GB)}, "0::/a/b"),
        ({"a/memory.max": str(4 * GB), "a/memory.current": str(2 * GB), "a/b/memory.max": "max"}, "0::/a/b"),
        (
            {"memory/a/memory.limit_in_bytes": str(5 * GB), "memory/a/memory.usage_in_bytes": str(3 * GB)},
            "5:cpu:/a\n4:cpuset,memory:/a\n0::/",
        ),
        # A container often sees its own group as the root, whatever its path.
        ({"memory.max": str(3 * GB), "memory.current": str(GB)}, "0::/unseen/group"),
    ],
)
def test_the_least_that_is_left_in_the_control_groups(
    tmp_path: Path, groups: dict[str, str], lines: str
) -> None:
    files = {f"cgroup/{name}": f"{text}\n" for name, text in groups.items()}
    assert safe_memory(*machine(tmp_path, **{"proc/self/cgroup": f"{lines}\n", **files})) == int(1.6 * GB)


def test_a_group_that_is_over_its_limit_has_nothing_left(tmp_path: Path) -> None:
    files = {"cgroup/memory.max": "5", "cgroup/memory.current": "7", "proc/self/cgroup": "0::/\n"}
    assert safe_memory(*machine(tmp_path, **files)) == 0


def test_this_machine_has_some() -> None:
    assert cores() >= 1
    memory = safe_memory()
    assert memory is not None
    assert memory > 1 << 24
