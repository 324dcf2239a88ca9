"""What this machine lends to a search: cores, and memory that can be used without harm to others."""

import os
import re
from pathlib import Path

SHARE = 0.8
"""Of the memory that is free when a search begins."""

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def cores() -> int:
    """How many threads can run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resident_memory(proc: Path = _PROC) -> int | None:
    """The bytes of memory that this process has in use; None where the system does not say."""
    pages = _text(proc / "self/statm").split()[1:2]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else None


def safe_memory(proc: Path = _PROC, cgroups: Path = _CGROUPS) -> int | None:
    """The bytes that a search may take: a share of what is free now, for the machine and in its control groups.

    None where the system does not say.
    """
    free = [n for n in (_free_on_machine(proc), _free_in_groups(proc, cgroups)) if n is not None]
    return int(min(free) * SHARE) if free else None


def _free_on_machine(proc: Path) -> int | None:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text(proc / "meminfo"), re.M)
    if found:
        return int(found[1]) * 1024
    try:
        # Half of the memory, where nobody says how much of it is free.
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_groups(proc: Path, cgroups: Path) -> int | None:
    """The least that is left to this process's control group and to those around it (version 2, or 1)."""
    free = []
    for line in _text(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, limit, usage = cgroups, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root, limit, usage = cgroups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = root / path.lstrip("/")
        for group in (own, *own.parents):
            if group.is_relative_to(root):
                most, used = _text(group / limit).strip(), _text(group / usage).strip()
                if most.isdigit() and used.isdigit():
                    free.append(max(0, int(most) - int(used)))
    return min(free, default=None)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
