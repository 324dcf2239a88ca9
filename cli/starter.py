"""`podrace init`: a scenario file to begin with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ..analysis.files import refuse_unwritable, write_text
from ..analysis.options import UsageProblem

ENDINGS = (".yaml", ".yml")


def starter_text() -> str:
    """The file's text."""
    return files(__package__).joinpath("starter.yaml").read_text(encoding="utf-8")


def write_starter(path: Path, force: bool) -> None:
    """Write the file, and say what to do with it. Raises UsageProblem."""
    if path.suffix not in ENDINGS:
        raise UsageProblem(f"`{path}`: a scenario is a YAML file: let its name end in .yaml")
    refuse_unwritable("FILE", path)
    if path.exists() and not force:
        raise UsageProblem(f"`{path}` is there already: name another file, or add --force to write over it")
    write_text("FILE", path, starter_text())
    print(f"wrote {path}: now run `podrace test {path}`")
