"""The arguments and options of all commands: a row for each says how it is written, and what the help says of it.

A row begins with the name of a command's parameter. Those above the first command hold for every command that has such a parameter, and no row of its own for it.
The signature of the command has its type and its default; `N[0..9]` stands for a number within these bounds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache
from glob import escape, glob
from os.path import isdir
from typing import Annotated, Any, get_origin

import typer


def declared(command: str, parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter of a command as typer reads it."""
    rows = _rows()
    row = rows.get((command, parameter.name)) or rows.get(("", parameter.name))
    if row is None or get_origin(parameter.annotation) is Annotated:
        return parameter
    spelled, words = row
    flags = [word for word in spelled.split() if word.startswith("-")]
    metavar = " ".join(word for word in spelled.split() if word not in flags)
    more: dict[str, Any] = {
        "help": words,
        "show_default": bool(parameter.default) and "(default:" not in words,
    }
    if bounds := re.fullmatch(r"(.+)\[(\d+)\.\.(\d+)\]", metavar):
        metavar, more["min"], more["max"] = bounds[1], int(bounds[2]), int(bounds[3])
    if parameter.name == "closing":
        more |= {"envvar": "PODRACE_CLOSING", "show_envvar": False}
    note = (
        typer.Option(*flags, metavar=metavar or None, autocompletion=COMPLETED.get(metavar), **more)
        if flags
        else typer.Argument(metavar=metavar, autocompletion=COMPLETED.get(metavar), **more)
    )
    return parameter.replace(annotation=Annotated[parameter.annotation, note])


@cache
def _rows() -> dict[tuple[str, str], tuple[str, str]]:
    found, command = {}, ""
    for line in ROWS.strip().splitlines():
        if line.startswith("["):
            command = line.strip("[]")
        else:
            parameter, spelled, words = re.split("  +", line, maxsplit=2)
            found[command, parameter] = spelled, words
    return found


def release_names(incomplete: str) -> list[str]:
    """The versions that a shell completes to."""
    from ...analysis.request.release_names import known_releases, pre_releases

    return [name for name in (*known_releases(), *pre_releases()) if name.startswith(incomplete)]


def code_names(incomplete: str) -> list[str]:
    """The versions and directories that a shell completes to."""
    folders = (f"{folder}/" for folder in glob(f"{escape(incomplete)}*") if isdir(folder))
    return [*(f"v{name}" for name in release_names(incomplete.removeprefix("v"))), *sorted(folders)]


def gate_settings(incomplete: str) -> list[str]:
    """The settings of feature gates that a shell completes to."""
    from ...analysis.request.options import known_settings

    return [setting for setting in known_settings() if setting.startswith(incomplete)]


COMPLETED: dict[str, Callable[[str], list[str]]] = {
    "X.Y[.Z]": release_names,
    "X.Y": release_names,
    "BEFORE AFTER": release_names,
    "NAME=true|false": gate_settings,
    "vX.Y.Z|DIR": code_names,
}
"""What a shell completes, by what stands for it in the help."""

ROWS = """
release           --release X.Y[.Z]         The scheduler's version: 1.34 (its newest patch version), 1.34.0, latest.
output            -o --output               Form of the result on stdout.
no_color          --no-color                No colours (like the variable NO_COLOR).
timeout           --timeout TIME            Stop each search after this time, such as 60s or 5m; a plain number is in seconds.
own               --properties -P FILE[:CLASS]  Properties of your own, in a Python file (repeatable).
with_fix          --with-fix N              Add an upstream change, such as 72259 (repeatable).
gate              --gate NAME=true|false    Set a feature gate of the scheduler: see `podrace gates` (repeatable).
scenario          --scenario NAME|FILE      Only this scenario (repeatable; default: all of the catalogue that fit the release).
property_         --property ID             Check this property (repeatable; see `podrace properties`).
time              --time                    any (the default): the periodic flush can come at any moment. scales: the flush waits until no shorter work is left.
slow              --slow ACTOR              With --time scales: an actor whose steps can still take minutes, such as `pod informer` (repeatable).
max_states        --max-states N            Stop each search after N states, such as 5M.
jobs              -j --jobs N               Search with N threads (default: all cores).
verbose           -v --verbose              Also print the steps by actor, with their functions.
max_memory        --max-memory SIZE         Stop at this memory, such as 4G (default: four fifths of the free memory).
cache             --cache DIR               Keep verdicts in this directory (default: PODRACE_CACHE, or below the user's cache directory).
no_cache          --no-cache                Explore everything again, and keep no verdict.
trace             TRACE                     A file from `podrace check --save-trace`.
without_fix       --without-fix N           Remove an upstream change (repeatable).
patch             --patch FILE[:CLASS]      A proposed change: subclasses of parts of the scheduler, in a Python file (repeatable).
save_trace        --save-trace FILE         Store the counterexample, for `podrace replay` and `podrace explain`.
timings           --timings                 Also print durations in every form; text always has them.
baseline          --baseline FILE           A file of known violations. Only new, worse or expired violations count as failed.
write_baseline    --write-baseline FILE     Write the current violations as a baseline, for you to add reasons.
size              --size KIND=N             For a system of your own: the number of entities of a kind (repeatable).
fail_on_vacuous   --fail-on-vacuous         Exit with 1 if a property holds because nothing tested it, or if a part of the scenario never acted.
graph             --graph FILE              Draw the counterexample as .svg, .png or .dot.
graph_kind        --graph-kind              lanes: the steps by actor. cluster: the cluster before and after each decisive step. lasso: the run with the part that repeats.
report            --report DIR              Write the result in every form, with all counterexamples, into a directory.
closing           --closing TIME            Time limit for finding the change or release that closes a race (text only); 0: no search.
words             WORD                      List only entries with all these words: a name, a property, an issue, a part of the scheduler.
[properties]
names             ID                        IDs, or words to search for.
[fixes]
names             N                         The change to explain.
[new-patch]
name              NAME                      The name of the class.
component         --component PART          The part of the scheduler, such as Scheduler.
method            --method METHOD           The method to override, such as after_choice.
list_             --list                    Print what can be overridden.
grep              --grep WORD               With --list: only entries with this word, such as a function of upstream's.
directory         --directory DIR           Where to write.
[verify]
changes           CHANGE...                 The changes, which are applied together.
against           --against X.Y             Compare with this release instead of the same one.
strict            --strict                  Exit with 1 also if a property is still violated.
alone             --alone                   Compare only the named properties, without the regression checks.
minimal           --minimal                 Print the smallest sets of the changes with which all properties hold. Exit codes: 0 there is one, 1 there is none, 3 inconclusive.
repo              --repo DIR                A checkout of kubernetes, with --range.
range_            --range BASE..HEAD        With --repo: check these commits.
kubernetes        --kubernetes vX.Y.Z|DIR   For a Go change: the version or kubernetes checkout that the change is based on. --release means the same.
go_test           --go-test DIR             For a Go change: write Go tests for the races that it opens or closes.
[diff]
releases          BEFORE AFTER              Two releases, such as 1.33 1.36.
before            --before X.Y              The first release.
after             --after X.Y               The second release.
[drift]
directory         DIR                       The root of a kubernetes source tree.
run               --run                     Run all races and hazards on the real scheduler of a version.
kubernetes        --kubernetes vX.Y.Z|DIR   With --run: this version, or a kubernetes checkout (default: the newest of the model).
since             --since X.Y.Z             Compare with this recorded tree, not with the newest.
update            --update                  Record this tree.
release           --release X.Y.Z           With --update: the version of this tree. With --run: the version of the model to compare with.
record            --record FILE             Use this record of trees instead of podrace's own.
[lockstep]
release           --release X.Y[.Z]         With --kubernetes: the version of the model to compare with (default: the same, or the nearest to a checkout).
trace             [TRACE]                   A file that --store wrote: execute only its run.
scheduler         --scheduler DIR           With --kubernetes: build the scheduler with your plugins: a Go package that has `func Registry() runtime.Registry`, and scheduler.yaml with its profile.
clusters          --clusters N[1..100000]   Number of random clusters for each version.
runs              --runs N[1..100000]       Number of runs in each cluster.
seed              --seed N[0..1000000]      The seed of the random runs (default: 0).
claims            --claims                  Use clusters with claims of devices (from 1.34 on).
extenders         --extenders               Use clusters with extenders or scores.
extended          --extended                Use clusters with extended resources that devices back (from 1.36 on).
groups            --groups                  Use clusters with groups of pods (from 1.35 on), with the gate GangScheduling or GenericWorkload on.
trees             --trees                   Use clusters with groups of groups (from 1.38 on), with the gate CompositePodGroup on.
volumes           --volumes                 Use clusters with volumes and their claims.
store             --store DIR               Shrink an example of each difference, and store it there.
form              -o --output               Form of the result on stdout.
[ask]
scenario          SCENARIO                  A scenario, as for `podrace check`; not with --pods.
steps             STEP...                   The steps, in their order.
then              --then STEP               A step that happens directly after the previous step.
not_between       --not-between STEP        A step that does not happen between the previous step and the next.
never             --never STEP              A step that does not happen at all (repeatable).
end               --end STATE               The state at the end of the run: `p parked`, `n1 overfull`, or a violated property (repeatable).
release           --release X.Y[.Z]         The scheduler's version, several with commas, or a range such as 1.28..1.36.
pods              --pods P                  Ask about all clusters with up to P pods and up to --nodes nodes. In the steps, p, q and r mean any pods, n and m any nodes.
nodes             --nodes N                 With --pods: the largest number of nodes.
scope             --scope NAME=VALUE        With --pods: a bound of the scope, such as node_deletions=1 (repeatable).
run               --run                     If the order is possible: execute the run on kube-scheduler's own code. Needs Go 1.26 or later.
go_test           --go-test FILE            Write a short Go test into this file. It passes as long as the order is possible.
[check]
names             NAME|FILE                 What to check.
filename          -f --filename FILE|DIR|-  Kubernetes objects, also as kubectl prints them: check a small cluster made from them (repeatable).
recursive         -R --recursive            Also read subdirectories of -f.
strict            --strict                  Refuse kinds in -f that podrace does not know.
pods              --pods N                  Keep at most N pods of -f (default: 3, or up to 5 if every waiting pod needs the room of more than two).
nodes             --nodes N                 Keep at most N nodes of -f.
focus             --focus NAMESPACE/POD     Keep this waiting pod of -f (default: the most contested one).
drain             --drain NODE              Check the cluster of -f right after a drain of this node.
upgrade           --upgrade X.Y             Check the cluster of -f also on this version of the scheduler, and compare. Exit codes: 0 nothing becomes worse, 1 something does.
controllers       --controllers             Let controllers recreate the kept pods of -f again and again.
write_scenario    --write-scenario FILE     Write the cluster made from -f as a scenario; `-` prints the scenario, and checks nothing.
fair_flush        --fair-flush              Liveness assumes that the periodic flush happens.
first             --first                   For a system of your own: stop at the first violation of any invariant.
on_code           --on-code vX.Y.Z|DIR      Also run kube-scheduler's own code (a version or a source tree) through every transition, and compare the states. Needs Go 1.26 or later.
scheduler         --scheduler DIR           With --on-code: build the scheduler with your plugins: a Go package that has `func Registry() runtime.Registry`, and scheduler.yaml with its profile.
affected          --affected                Check all versions of the scheduler, and print which are affected.
verbose           -v --verbose              Also print the steps by actor with their functions, steps that never ran, and whether a verdict was cached.
max_states        --max-states N            Stop after N states, such as 5M.
walks             --walks N[0..1000000]     If states or memory run out, also search from the ends of up to N random runs. This can find a violation, but not prove HOLDS.
engine            --engine                  native, or the slow reference interpreter.
[prove]
pods              --pods P                  The largest number of pods.
nodes             --nodes N                 The largest number of nodes.
resources         --resource                The resource of pods and nodes (default: cpu; repeatable).
scope             --scope NAME=VALUE        A bound of the scope, such as node_deletions=1 (repeatable).
zero_grace        --zero-grace              Pods have terminationGracePeriodSeconds 0.
negative_priorities  --negative-priorities     Also check priorities below 0.
no_empty_requests  --no-empty-requests       Every pod requests some of each resource.
one_priority      --one-priority            All pods have priority 0.
gangs             --gang N                  Add a gang of N equal waiting pods (repeatable).
together          --together                With --gang: the pods of a gang arrive one after the other.
parts             --parts N                 Divide the search of one placement of pods into N parts, for several processes or machines, or to save memory.
jobs              -j --jobs N               Number of processes (default: all cores).
examples          --examples DIR            Write the simplest cluster of each violating group into this directory, as a scenario file.
[test]
paths             DIR|FILE                  What to check (default: the working directory).
[audit]
names             FILE                      The logs of one cluster.
filename          -f FILE|-                 One more log; - is the standard input.
initial           --initial FILE            What `kubectl get nodes,pods -A -o json` printed when the log began.
complete          --complete                Assume that the logs have every write of their period, from all API servers.
since             --since TIME              Report only violations from this time on (RFC 3339).
until             --until TIME              Report only violations up to this time.
namespace         --namespace NAME          Report only violations of pods of this namespace.
property_         --property ID             Check only this property (repeatable).
clock_skew        --clock-skew TIME         How far clocks can differ; a plain number is in seconds.
explain           --explain                 Say which known races explain the first violation of each property (takes a minute or two).
policy            --policy                  Print an audit policy that logs enough for all answers.
follow            --follow                  Keep reading while the logs grow, and print each new violation; Ctrl-C ends the command and prints all answers.
report            --report DIR              Write the answers in every form into this directory.
[explain]
verbose           -v --verbose              Also print the steps by actor with their functions, steps that never ran, and whether a verdict was cached.
[explore]
scenario          SCENARIO|TRACE            A scenario or a system of your own, as for `podrace check`, or a stored trace.
release           --release X.Y[.Z]         The scheduler's version.
walk              --walk LINE               Begin after these steps, in the form that the command `line` prints.
tty               --tty/--page              Use the terminal, or a page (default: a page, unless stdin is a pipe).
port              --port N[0..65535]        The port of the page (default: any free port).
timeout           --timeout TIME            Time limit of one search for a nearest state.
[reproduce]
what              TRACE|RACE|HAZARD         What to reproduce.
kubernetes        --kubernetes vX.Y.Z|DIR   The version of kube-scheduler, or a kubernetes checkout, to run (default: the version of the trace or scenario).
run               --run                     Build it, run it, and print the result.
directory         --directory DIR           Where to write the Go module.
go_test           --go-test                 Write a short Go test that fails as long as the race is there: to stdout, or with --directory into a module. --run runs it.
go_patch          --go-patch NAME           With --go-test: build kube-scheduler with this patch, one of reproduce/patches. May be repeated.
[init]
file              FILE                      Where to write.
from_             --from KIND               A kind of report, such as room-taken or stays-pending.
node              --node NAME=CPU           With --from: a node (repeatable; default: the nodes of the kind).
pod               --pod NAME=CPU[,PRIORITY[,NODE]]  With --from: a pod, bound if it has a node (repeatable; default: the pods of the kind).
may               --may BOUND               With --from: an event to allow once, such as node_deletions (repeatable).
force             --force                   Overwrite an existing file.
[mcp]
root              --root DIR                Read only files below this directory (default: the working directory).
allow_code        --allow-code              Allow podrace to run patches and property files below --root, which are Python code.
timeout           --timeout TIME            Time limit of one search; a call can set a shorter one.
[schema]
name              report|replay|reproduction|trace|scenario|baseline  The document to describe.
"""
