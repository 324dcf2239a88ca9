"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, Literal

import typer

ReportForm = Literal["text", "json", "html", "junit", "sarif", "github", "markdown", "mermaid"]

Verbose = Annotated[
    bool,
    typer.Option(
        "-v",
        "--verbose",
        help="Also print the steps by actor with their functions, steps that never ran, and what was kept.",
    ),
]
Lanes = Annotated[
    bool, typer.Option("-v", "--verbose", help="Also print the steps by actor, with their functions.")
]
ClosingTime = Annotated[
    str,
    typer.Option(
        "--closing",
        metavar="TIME",
        envvar="PODRACE_CLOSING",
        show_envvar=False,
        help="Time limit for finding the change or release that closes a race (text only); 0: no search.",
    ),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours (like the variable NO_COLOR).")]
FormOption = Annotated[
    Literal["text", "json"], typer.Option("-o", "--output", help="Form of the result on stdout.")
]
ComparisonOption = Annotated[
    Literal["text", "json", "markdown"], typer.Option("-o", "--output", help="Form of the result on stdout.")
]
ReportOption = Annotated[ReportForm, typer.Option("-o", "--output", help="Form of the result on stdout.")]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        show_default=False,
        help="Keep verdicts in this directory (default: PODRACE_CACHE, or below the user's cache directory).",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Explore everything again, and keep no verdict.")]
Timings = Annotated[
    bool,
    typer.Option(
        "--timings", help="Also print durations in the forms json, html and so on; text always has them."
    ),
]
SaveTrace = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Store the counterexample, for `podrace replay` and `podrace explain`."
    ),
]
TraceFile = Annotated[
    Path,
    typer.Argument(metavar="TRACE", show_default=False, help="A file from `podrace check --save-trace`."),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write the result in every form, with all counterexamples, into a directory."
    ),
]
Own = Annotated[
    list[str] | None,
    typer.Option(
        "--properties",
        "-P",
        metavar="FILE[:CLASS]",
        help="Properties of your own, in a Python file (repeatable).",
    ),
]
Patches = Annotated[
    list[str] | None,
    typer.Option(
        "--patch",
        metavar="FILE[:CLASS]",
        help="A proposed change: subclasses of parts of the scheduler, in a Python file (repeatable).",
    ),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME|FILE",
        help="Only this scenario (repeatable; default: all of the catalogue that fit the release).",
    ),
]
PropertyIds = Annotated[
    list[str] | None,
    typer.Option(
        "--property", metavar="ID", help="Check this property (repeatable; see `podrace properties`)."
    ),
]
MaxStates = Annotated[
    str | None, typer.Option(metavar="N", help="Stop each search after N states, such as 5M.")
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Stop at this memory, such as 4G (default: four fifths of the free memory)."
    ),
]
Jobs = Annotated[
    str | None, typer.Option("-j", "--jobs", metavar="N", help="Search with N threads (default: all cores).")
]
Processes = Annotated[
    str | None, typer.Option("-j", "--jobs", metavar="N", help="Number of processes (default: all cores).")
]


def release_names(incomplete: str) -> list[str]:
    """The versions that a shell completes to."""
    from ...analysis.request.release_names import known_releases, pre_releases

    return [name for name in (*known_releases(), *pre_releases()) if name.startswith(incomplete)]


def gate_settings(incomplete: str) -> list[str]:
    """The settings of feature gates that a shell completes to."""
    from ...analysis.request.options import known_settings

    return [setting for setting in known_settings() if setting.startswith(incomplete)]


Release = Annotated[
    str | None,
    typer.Option(
        metavar="X.Y[.Z]",
        help="The scheduler's version: 1.34 (its newest patch version), 1.34.0, latest.",
        autocompletion=release_names,
    ),
]
Time = Annotated[
    Literal["any", "scales"] | None,
    typer.Option(
        help="any (the default): the periodic flush can come at any moment. scales: only after minutes without shorter work."
    ),
]
Slow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ACTOR",
        help="With --time scales: an actor whose steps can still take minutes, such as `pod informer` (repeatable).",
    ),
]
WithFix = Annotated[
    list[str] | None, typer.Option(metavar="N", help="Add an upstream change, such as 72259 (repeatable).")
]
WithoutFix = Annotated[
    list[str] | None, typer.Option(metavar="N", help="Remove an upstream change (repeatable).")
]
Timeout = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Stop each search after this time, such as 60s or 5m; a plain number is in seconds.",
    ),
]
Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="NAME=true|false",
        help="Set a feature gate of the scheduler: see `podrace gates` (repeatable).",
        autocompletion=gate_settings,
    ),
]
Graph = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Draw the counterexample as .svg, .png or .dot.")
]
GraphKindOption = Annotated[
    Literal["lanes", "cluster", "lasso"],
    typer.Option(
        "--graph-kind",
        help="lanes: the steps by actor. cluster: the cluster before and after each decisive step. lasso: what repeats indefinitely.",
    ),
]
Filename = Annotated[
    list[str] | None,
    typer.Option(
        "-f",
        "--filename",
        metavar="FILE|DIR|-",
        help="Kubernetes objects, also as kubectl prints them: check a small cluster made from them (repeatable).",
    ),
]
Recursive = Annotated[bool, typer.Option("-R", "--recursive", help="Also read subdirectories of -f.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse kinds in -f that podrace does not know.")]
KeptPods = Annotated[str, typer.Option("--pods", metavar="N", help="Keep at most N pods of -f.")]
KeptNodes = Annotated[str, typer.Option("--nodes", metavar="N", help="Keep at most N nodes of -f.")]
Focus = Annotated[
    str | None,
    typer.Option(
        metavar="NAMESPACE/POD", help="Keep this waiting pod of -f (default: the most contested one)."
    ),
]
Drain = Annotated[
    str | None, typer.Option(metavar="NODE", help="Check the cluster of -f right after a drain of this node.")
]
Upgrade = Annotated[
    str | None,
    typer.Option(
        metavar="X.Y",
        help="Compare the cluster of -f with the same on this version of the scheduler. Exit codes: 0 nothing becomes worse, 1 something does.",
    ),
]
Controllers = Annotated[
    bool,
    typer.Option(
        "--controllers", help="Let the controllers of kept pods of -f recreate them again and again."
    ),
]
WriteScenario = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the cluster that was made from -f as a scenario; - prints it, and checks nothing.",
    ),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size",
        metavar="KIND=N",
        help="For a system of your own: the number of entities of a kind (repeatable).",
    ),
]
FailOnVacuous = Annotated[
    bool,
    typer.Option(
        "--fail-on-vacuous",
        help="Exit with 1 if a property holds only because nothing tested it, or if a part of the scenario never acted.",
    ),
]
