"""The first `podrace check -f` of a process with an empty cache: each property of the realistic dump by itself, beside all of them at once.

The properties are searched one by one in both; at once, they share the code that LLVM makes. CPU seconds of whole processes.
"""

import os
import resource
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

DUMP = Path(__file__).parents[1] / "tests" / "kubectl_dump.py"
PROPERTIES = ("S-CAP", "S-NOM", "S-NOMVIS", "S-STUCK", "L-PLACE")


def cold(file: Path, *properties: str) -> float:
    """CPU seconds of a check of these properties, without what earlier ones have left."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = [word for name in properties for word in ("--property", name)]
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(
            [
                sys.executable,
                "-c",
                "from podrace.cli.main import main; main()",
                "check",
                "-f",
                str(file),
                "--closing",
                "0s",
                *asked,
            ],
            env={**os.environ, "PODRACE_CACHE": cache, "XDG_CACHE_HOME": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a line for each property, and one for all of them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "dump.yaml"
        file.write_text(runpy.run_path(str(DUMP))["dump"]())
        alone = {name: cold(file, name) for name in PROPERTIES}
        together = cold(file, *PROPERTIES)
    for name, seconds in alone.items():
        print(f"{name:<12}{seconds:>7.2f} s")
    total = sum(alone.values())
    print(f"one by one  {total:>7.2f} s")
    print(f"at once     {together:>7.2f} s, {total / together:.1f} times as quick")


if __name__ == "__main__":
    main()
