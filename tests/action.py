"""Runs the steps of action.yml as a runner of GitHub Actions does, here: `python -m tests.action command=test scenarios=FILE`.

Steps of other actions are noted and not run. `--without-install` takes the podrace of this environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
_REFERENCE = re.compile(r"\$\{\{\s*([^}]*?)\s*\}\}")
_TERM = re.compile(r"([\w.-]+) ([!=]=) '([^']*)'")


@dataclass
class Job:
    """What the steps left: outputs by step, what they printed, the summary, and which other actions would have run."""

    folder: Path
    inputs: dict[str, str]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    failed: str = ""

    @property
    def summary(self) -> str:
        """What the steps wrote into the step summary."""
        path = self.folder / "summary"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def value(self, reference: str) -> str:
        """What an expression stands for."""
        kind, _, name = reference.partition(".")
        if kind == "inputs":
            return self.inputs[name]
        if kind == "steps":
            step, _, rest = name.partition(".outputs.")
            return self.outputs.get(step, {}).get(rest, "")
        known = {
            "github.action_path": str(ROOT),
            "github.sha": "0" * 40,
            "runner.temp": str(self.folder),
            "runner.os": "Linux",
        }
        return known[reference]

    def substituted(self, text: str) -> str:
        """A text with its expressions replaced."""
        return _REFERENCE.sub(lambda match: self.value(match[1]), text)

    def wanted(self, condition: str) -> bool:
        """Whether a step's `if` is true: terms `a == 'b'` or `a != 'b'` joined by `&&`."""
        terms = [_TERM.fullmatch(term.strip()) for term in condition.split("&&")]
        assert all(terms), condition
        return all((self.value(term[1]) == term[3]) == (term[2] == "==") for term in terms if term)


def run_action(folder: Path, work: Path, install: bool = True, **given: str) -> Job:
    """Run the steps in the directory `work`, up to the first that fails; the runner's own files go into `folder`."""
    action: Any = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    known = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
    assert set(given) <= set(known), f"unknown inputs: {set(given) - set(known)}"
    job = Job(folder, known | given)
    if not install:
        (folder / "podrace").mkdir()
        (folder / "podrace" / "bin").symlink_to(Path(sys.executable).parent)
    for number, step in enumerate(action["runs"]["steps"]):
        name = step.get("id") or str(number)
        if not job.wanted(step["if"]) if "if" in step else False:
            continue
        if "uses" in step:
            job.used[step["uses"]] = {k: job.substituted(str(v)) for k, v in step.get("with", {}).items()}
        elif (name != "install" or install) and not _run(job, name, step, work):
            job.failed = name
            break
    return job


def _run(job: Job, name: str, step: dict[str, Any], work: Path) -> bool:
    assert step["shell"] == "bash"
    output = job.folder / f"output-{name}"
    output.touch()
    environment = {
        **{
            k: v
            for k, v in os.environ.items()
            if k not in ("PODRACE_NO_CACHE", "PODRACE_KEY", "PYTEST_ADDOPTS")
        },
        "RUNNER_TEMP": str(job.folder),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(job.folder / "summary"),
        **{key: job.substituted(str(value)) for key, value in step.get("env", {}).items()},
    }
    script = job.substituted(step["run"])
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=work,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    job.printed[name] = done.stdout + done.stderr
    lines = output.read_text(encoding="utf-8").splitlines()
    job.outputs[name] = dict(line.partition("=")[::2] for line in lines)
    return done.returncode == 0


def main(arguments: list[str]) -> int:
    """Run the action with inputs `name=value`; prints what its steps print."""
    given = dict(argument.partition("=")[::2] for argument in arguments if "=" in argument)
    with tempfile.TemporaryDirectory() as folder:
        job = run_action(Path(folder), Path.cwd(), "--without-install" not in arguments, **given)
        for name, text in job.printed.items():
            print(f"== {name}\n{text}", end="")
        print(f"== summary\n{job.summary}== would use {', '.join(job.used)}")
        return int(job.outputs.get("run", {}).get("exit-code", "2"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
