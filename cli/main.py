"""The `podrace` command. Every other floor is imported only by the command that needs it."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .options import (
    UsageProblem,
    parse_jobs,
    parse_memory,
    parse_seed,
    parse_states,
    parse_steps,
    parse_timeout,
    parse_walks,
)

EXIT_CODES = "Exit codes: 0 holds, 1 violated, 2 wrong usage or input, 3 inconclusive (a budget ran out)."

INTERRUPTED = 130

app = typer.Typer(
    name="podrace",
    help=f"Finds race conditions in the Kubernetes scheduler, and proves their absence.\n\n{EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Form(Enum):
    """Forms of a report."""

    text = "text"
    json = "json"


class Engine(Enum):
    """Engines that search."""

    native = "native"
    reference = "reference"


NoColor = Annotated[bool, typer.Option("--no-color", help="No colours (as does the variable NO_COLOR).")]
FormOption = Annotated[Form, typer.Option("-o", "--output", help="Form of the result on stdout.")]

Own = Annotated[
    list[str] | None,
    typer.Option(
        "--properties",
        "-P",
        metavar="FILE[:CLASS]",
        help="Properties of your own, in a Python file (repeatable).",
    ),
]


@app.command(
    help="Check properties of the scheduler in scenarios.\n\n"
    "NAME is a scenario or race of `podrace races`, or the number of its issue or fix; FILE is a scenario in YAML. "
    "A race is checked on the release just before its fix, unless --release says otherwise. "
    "Without arguments, the seed races are checked before and after their fix, and the exit code is 0 when every race "
    f"shows up before its fix and none after.\n\n{EXIT_CODES}"
)
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME|FILE", show_default=False, help="What to check.")
    ] = None,
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="The scheduler's release; 1.13 means 1.13.0.")
    ] = None,
    with_fix: Annotated[
        list[str] | None,
        typer.Option(metavar="N", help="Put an upstream change in, such as 72259 (repeatable)."),
    ] = None,
    without_fix: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Take an upstream change out (repeatable).")
    ] = None,
    property_: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="Check this of `podrace properties` (repeatable)."),
    ] = None,
    own: Own = None,
    fair_flush: Annotated[
        bool,
        typer.Option("--fair-flush", help="Let liveness count on the periodic flush of long-parked pods."),
    ] = False,
    fail_on_vacuous: Annotated[
        bool,
        typer.Option(
            "--fail-on-vacuous", help="Exit with 1 if a property holds only because nothing tested it."
        ),
    ] = False,
    output: FormOption = Form.text,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the counterexample as .svg, .png or .dot.")
    ] = None,
    max_states: Annotated[
        str | None, typer.Option(metavar="N", help="Stop after so many states, such as 5M.")
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Stop at so much memory, such as 4G (four fifths of what is free)."
        ),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop each search after, such as 60s or 5m.")
    ] = None,
    jobs: Annotated[
        str | None, typer.Option("-j", "--jobs", metavar="N", help="Search with so many threads (all cores).")
    ] = None,
    disk: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the states of one search in files in this directory."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the search that --disk holds.")
    ] = False,
    engine: Annotated[
        Engine, typer.Option(help="native, or the slow interpreter that everything is measured by.")
    ] = Engine.native,
    reductions: Annotated[
        bool | None,
        typer.Option(
            "--reductions/--no-reductions",
            show_default=False,
            help="Reduce every search, or none: then the counts are those of the system itself. "
            "Without either, large searches are reduced where a sample shows that it pays.",
        ),
    ] = None,
    no_color: NoColor = False,
) -> None:
    states = parse_states(max_states) if max_states is not None else None
    memory = parse_memory(max_memory) if max_memory is not None else None
    threads = parse_jobs(jobs) if jobs is not None else None
    if resume and disk is None:
        raise UsageProblem("--resume goes on with a search that is on disk: name its directory with --disk")
    if disk is not None and engine is Engine.reference:
        raise UsageProblem("--disk is for the native engine: leave out --engine reference")
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ..checker.exploration import Budget
    from ..checker.machine import cores, safe_memory
    from .check import Output
    from .check import check as run_check
    from .execute import Method
    from .own import own_properties
    from .plan import Selection

    selection = Selection(
        names or (),
        release,
        with_fix or (),
        without_fix or (),
        property_ or (),
        own_properties(own or ()),
        fair_flush,
    )
    if disk is not None and reductions:
        raise UsageProblem("a reduced search cannot be kept on disk: leave out --reductions or --disk")
    budget = Budget(
        max_states=states,
        max_memory=safe_memory() if memory is None else memory,
        timeout=seconds,
        jobs=threads or cores(),
        disk=disk,
        resume=resume,
    )
    method = Method(engine.value, "auto" if reductions is None else "on" if reductions else "off")
    code = run_check(selection, budget, method, Output(output.value, graph, no_color, fail_on_vacuous))
    raise typer.Exit(code)


class By(Enum):
    """What has the same chance when a random walk goes on."""

    step = "step"
    transition = "transition"


@app.command(
    help="Look for violations by random walks, in clusters that are too large to exhaust.\n\n"
    "A walk takes steps at random until it violates the property, comes to rest or is long enough. A violation is made "
    "shorter and executed again; without one, the verdict is INCONCLUSIVE, with what was covered: walks prove nothing. The "
    "same seed gives the same walks.\n\n"
    "Exit codes: 1 violated, 2 wrong usage or input, 3 inconclusive."
)
def simulate(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|FILE", show_default=False, help="Where to walk.")
    ],
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="The scheduler's release; 1.13 means 1.13.0.")
    ] = None,
    with_fix: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Put an upstream change in (repeatable).")
    ] = None,
    without_fix: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Take an upstream change out (repeatable).")
    ] = None,
    property_: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="Look for violations of this (repeatable)."),
    ] = None,
    own: Own = None,
    walks: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="So many walks (10,000; with --timeout, as many as there is time for)."
        ),
    ] = None,
    steps: Annotated[str, typer.Option(metavar="K", help="So many steps on one walk at most.")] = "1000",
    seed: Annotated[str, typer.Option(metavar="S", help="Where the walks come from.")] = "0",
    by: Annotated[
        By,
        typer.Option(
            help="What has the same chance: the steps that are possible, whatever the arguments, or every transition."
        ),
    ] = By.step,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Stop each search after, such as 60s or 5m.")
    ] = None,
    jobs: Annotated[
        str | None, typer.Option("-j", "--jobs", metavar="N", help="Walk with so many threads (all cores).")
    ] = None,
    output: FormOption = Form.text,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the counterexample as .svg, .png or .dot.")
    ] = None,
    no_color: NoColor = False,
) -> None:
    seconds = parse_timeout(timeout) if timeout is not None else None
    count = parse_walks(walks) if walks is not None else None if seconds is not None else 10_000
    threads = parse_jobs(jobs) if jobs is not None else None
    longest, start = parse_steps(steps), parse_seed(seed)
    from ..checker.machine import cores
    from ..checker.simulate import Walks
    from .check import Output
    from .own import own_properties
    from .plan import Selection
    from .simulate import simulate as run_simulate

    chosen = own_properties(own or ())
    selection = Selection(names, release, with_fix or (), without_fix or (), property_ or (), chosen)
    plan = Walks(count, longest, start, by.value, seconds, threads or cores())
    raise typer.Exit(run_simulate(selection, plan, Output(output.value, graph, no_color)))


class Language(Enum):
    """Languages of other checkers."""

    promela = "promela"
    tlaplus = "tlaplus"


@app.command(
    help="Write a scenario's transition system for another checker: Promela for SPIN, TLA+ for TLC.\n\n"
    "What is written is the slice that `podrace check` explores for the property, with the property as an "
    "invariant; with --whole, everything. Without --property, the scenario's own.\n\n"
    "Exit codes: 0 written, 2 wrong usage or input."
)
def export(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE", show_default=False, help="What to write.")],
    to: Annotated[Language, typer.Option("--to", show_default=False, help="The language.")],
    property_: Annotated[
        str | None, typer.Option("--property", metavar="ID", help="One of `podrace properties`.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Leave nothing out.")] = False,
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="The scheduler's release; 1.13 means 1.13.0.")
    ] = None,
    with_fix: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Put an upstream change in (repeatable).")
    ] = None,
    without_fix: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Take an upstream change out (repeatable).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; stdout unless given."),
    ] = None,
) -> None:
    from .console import tolerant_of_closed_pipes
    from .export import export as run_export
    from .plan import Selection

    properties = (property_,) if property_ is not None else ()
    selection = Selection((name,), release, with_fix or (), without_fix or (), properties)
    with tolerant_of_closed_pipes():
        run_export(selection, to.value, whole, output)


@app.command(help="List the known races.")
def races(output: FormOption = Form.text, no_color: NoColor = False) -> None:
    from .console import tolerant_of_closed_pipes
    from .listings import list_races

    with tolerant_of_closed_pipes():
        list_races(output.value, no_color)


@app.command(help="List the properties, or explain some.")
def properties(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="ID", show_default=False, help="What to explain.")
    ] = None,
    own: Own = None,
    output: FormOption = Form.text,
    no_color: NoColor = False,
) -> None:
    from .console import tolerant_of_closed_pipes
    from .listings import list_properties
    from .own import own_properties

    with tolerant_of_closed_pipes():
        list_properties(names or (), output.value, no_color, own_properties(own or ()))


@app.command(
    help="Run upstream's unit-test tables, restated as facts in JSON, on the model.\n\n"
    "Exit codes: 0 no case failed, 1 a case failed, 2 wrong usage or input."
)
def conform(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", show_default=False, help="Tables of cases.")],
    release: Annotated[
        str | None, typer.Option(metavar="X.Y", help="The scheduler's release (1.22 unless told otherwise).")
    ] = None,
    no_color: NoColor = False,
) -> None:
    from .conform import conform as run_conform
    from .console import tolerant_of_closed_pipes

    with tolerant_of_closed_pipes():
        raise typer.Exit(run_conform(files, release, no_color))


@app.command(help="Print the version.")
def version() -> None:
    from importlib.metadata import version as installed

    typer.echo(f"podrace {installed('podrace')}")


def main(arguments: list[str] | None = None) -> None:
    """The console script: runs the command line and exits with its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; gives the exit code. Problems of the user become one line on stderr."""
    try:
        code = app(arguments, prog_name="podrace", standalone_mode=False)
        if code == INTERRUPTED:  # typer's way to say so
            raise KeyboardInterrupt
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", INTERRUPTED)
    except MemoryError:
        return _complain("out of memory before the search ended: limit it with --max-memory", 3)
    except UsageProblem as problem:
        return _complain(str(problem), 2)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
            print(str(error), file=sys.stderr)
            return 2
        line = _line_of(error)
        if line is None:
            raise
        return _complain(line, 2)
    return code if isinstance(code, int) else 0


def _complain(line: str, code: int) -> int:
    print(f"podrace: {line}", file=sys.stderr)
    return code


def _line_of(error: Exception) -> str | None:
    """The line for a problem of the user; None for anything else, which is a bug and shows where."""
    from ..model.language.errors import ModelError
    from ..reports.render import RenderError
    from ..scenarios.errors import ScenarioError

    if isinstance(error, ScenarioError):
        return str(error)
    if isinstance(error, RenderError):
        return f"--graph: {error}"
    if isinstance(error, ModelError):
        return f"the model of this scenario cannot be built: {error}"
    if type(error).__name__ == "CheckpointProblem":
        return f"--disk: {error}"
    if type(error).__name__ == "EngineDisagreement":  # not imported: the checker may not be loaded
        return f"internal error, no verdict can be trusted: {error}; please report it"
    formatted = getattr(error, "format_message", None)  # typer's own usage errors
    if formatted is not None:
        return f"{' '.join(formatted().split())} (see `podrace --help`)"
    return None
