"""From DOT source to a file. The program that draws comes with the Python package graphviz-pure."""

import errno
import shutil
import subprocess
import sysconfig
from pathlib import Path

from ...base.files import write_whole

FORMATS = ("svg", "png", "dot")
SECONDS = 120
DARK = (
    b"<style>@media (prefers-color-scheme: dark) { svg { filter: invert(0.9) hue-rotate(180deg) } }</style>"
)
"""The style of an SVG for readers in dark mode: light and dark change places, hues stay."""


class RenderError(Exception):
    """A drawing that could not be made or written: one line with the remedy."""


def format_of(path: Path) -> str:
    """The format that the ending of a file asks for; RenderError if podrace does not draw it."""
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise RenderError(f"cannot draw `{path.name}`: the ending must be .svg, .png or .dot")
    return ending


def write_graph(dot: str, path: Path) -> None:
    """Write the drawing of `dot` to `path`, in the format of its ending, whole or not at all, and never through a link."""
    data = render(dot, format_of(path))
    try:
        write_whole(path, data)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise RenderError(f"cannot write `{path}`: {why}") from None


def render(dot: str, form: str) -> bytes:
    """The drawing as bytes; RenderError if no drawing program works."""
    if form == "dot":
        return dot.encode()
    program = find_program()
    try:
        done = subprocess.run(
            [program, f"-T{form}"], input=dot.encode(), capture_output=True, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderError(f"cannot draw with {program}: {error}; write a .dot file instead") from None
    if done.returncode != 0 or not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise RenderError(f"cannot draw with {program}: {lines[0]}; write a .dot file instead")
    return _with_dark_mode(done.stdout) if form == "svg" else done.stdout


def _with_dark_mode(svg: bytes) -> bytes:
    """An SVG with the style DARK behind its opening tag."""
    before, tag, rest = svg.partition(b"<svg")
    inside, end, after = rest.partition(b">")
    return before + tag + inside + end + b"\n" + DARK + after


def find_program() -> str:
    """The drawing program: graphviz-pure from this installation, otherwise the system's dot."""
    scripts = Path(sysconfig.get_path("scripts"))
    for name in ("graphviz-pure", "graphviz-pure.exe"):
        if (scripts / name).is_file():
            return str(scripts / name)
    found = shutil.which("graphviz-pure") or shutil.which("dot")
    if found is None:
        raise RenderError(
            "nothing to draw with: `pip install graphviz-pure`, or write a .dot file, which needs no program"
        )
    return found
