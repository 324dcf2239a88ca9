"""`podrace init`: a scenario file to begin with."""

from importlib.resources import files
from pathlib import Path

from ....base.problems import UsageProblem
from ...configuration.app import app, examples
from ...terminal.console import complaint

ENDINGS = (".yaml", ".yml")


@app.command(
    help="Write a scenario file to begin with.\n\nThe file has a comment on every line; `podrace test` checks it. With --from, write a file for a common kind of bug report, and print the first question for `podrace ask`. docs/ask.md lists the kinds.\n\n"
    "Exit codes: 0 written, 2 wrong usage, or the file exists.",
    epilog=examples(
        "podrace init mine.yaml",
        "podrace init x.yaml --from stays-pending --node n=4 --pod v=4,0,n --pod p=4",
    ),
)
def init(
    file: Path = Path("podrace-test.yaml"),
    from_: str | None = None,
    node: list[str] | None = None,
    pod: list[str] | None = None,
    may: list[str] | None = None,
    force: bool = False,
) -> None:  # fmt: skip
    from ....analysis.request.option_files import refuse_unwritable, write_text

    if file.suffix not in ENDINGS:
        raise UsageProblem(f"`{file}`: a scenario is a YAML file: let its name end in .yaml")
    if from_ is None and (node or pod or may):
        raise UsageProblem("--node, --pod and --may are facts of a report: name its kind with --from")
    refuse_unwritable("FILE", file)
    if file.exists() and not force:
        raise UsageProblem(f"`{file}` is there already: name another file, or add --force to write over it")
    if from_ is None:
        text, command = starter_text(), f"podrace test {file}"
    else:
        from ...starting.from_facts import Facts, started

        made = started(from_, Facts(node or (), pod or (), may or ()), str(file), file.stem)
        text, command = made.text, made.command
    write_text("FILE", file, text)
    print(complaint(f"wrote {file}: now run `{command}`"))


def starter_text() -> str:
    """The file's text."""
    return files("podrace.cli").joinpath("starter.yaml").read_text(encoding="utf-8")
