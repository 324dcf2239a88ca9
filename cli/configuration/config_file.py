"""Which configuration file holds, `.podrace.yaml` in the working directory or above it, and what it says, with the line of everything in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.problems import Problem, UsageProblem

if TYPE_CHECKING:
    from ...scenarios.values.yaml_values import Value

NAME = ".podrace.yaml"


def find_config(start: Path) -> Path | None:
    """The file that holds for a directory: the nearest one, upwards."""
    return next((file for folder in (start, *start.parents) if (file := folder / NAME).is_file()), None)


def read_config(path: Path) -> Value | None:
    """The settings in a file, with their lines; None if it has none. Raises UsageProblem."""
    from ...base.text import one_line
    from ...scenarios.values.yaml_values import parse_document, read_text

    file = one_line(Path(os.path.relpath(path)).as_posix(), 200)
    if not path.is_file():
        raise UsageProblem(f"{file}: there is no such file: name one with settings for podrace")
    try:
        text = read_text(path, file)
        idle = ("", "---", "...")
        if all(line.strip() in idle or line.lstrip().startswith("#") for line in text.splitlines()):
            return None
        return parse_document(text, file)
    except Problem as error:
        raise UsageProblem(str(error)) from None
