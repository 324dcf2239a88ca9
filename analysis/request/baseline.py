"""Baselines: violations that are known. Only what is new, or worse, or known for too long, makes `podrace check` and `podrace test` fail."""

import builtins
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from pathlib import Path

import msgspec

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import counted, listed, one_line
from ...model.environment.cluster.scope import ANY_TIME, SCALES
from ...model.history.versions import exact
from ...properties import PROPERTIES
from ...reports.ci_outcome import Style
from ...reports.document import Finding, Known
from ...scenarios.tables.baseline import BASELINE, KNOWN
from ...scenarios.values.yaml_values import Value, parse_document, read_text
from ..ask.asked_property import ID as ASK
from .options import parse_property
from .release_names import parse_release

_VERSION = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?", re.ASCII)


class Entry(Data):
    """One violation that is known. An empty `label` stands for every version; `place` is where the entry is. What is known with one `time`, these actors `slow`, and a `fair_flush` or none says nothing of another."""

    scenario: str
    property: str
    label: str
    steps: int | None
    reason: str
    until: str
    place: str = field(default="", compare=False)
    time: str = ANY_TIME
    slow: tuple[str, ...] = ()
    fair_flush: bool = False
    shape: str = ""

    def is_of(self, finding: Finding) -> bool:
        """Whether it is about what a finding is about. The cluster of a dump is known by its shape; only an entry without one goes by the name."""
        same = (self.property, *self.time_of) == (finding.property, *_time_of(finding))
        if self.shape:
            of_it = self.shape == finding.shape
        else:
            of_it = self.scenario == finding.scenario
        return same and of_it and self.label in ("", finding.label)

    def is_by_name(self, finding: Finding) -> bool:
        """Whether it is about a dump that it knows by the name of its file alone."""
        return not self.shape and finding.shape is not msgspec.UNSET

    def is_over(self, finding: Finding, today: date) -> bool:
        """Whether its end is past: the day, or the version that a finding is about."""
        version = _version(self.until)
        if version is None:
            return today > date.fromisoformat(self.until)
        return (_version(finding.release) or version) >= version

    @builtins.property
    def time_of(self) -> tuple[str, tuple[str, ...], bool]:
        """What is assumed of time: the scale, the slow actors, and whether the flush is counted on."""
        return self.time, self.slow, self.fair_flush

    @builtins.property
    def subject(self) -> str:
        """What it is about, and where it is: for remarks."""
        return f"{self.place}: {self.property} in {self.scenario}"


def read_baseline(path: Path, own: Collection[str] = ()) -> tuple[Entry, ...]:
    """The entries of a file, whose properties are podrace's or `own` ones. Raises Problem with the place of a mistake."""
    file = one_line(str(path), 200)
    if not path.is_file():
        raise UsageProblem(
            f"--baseline: there is no file `{file}`: `--write-baseline {file}` writes what is violated now"
        )
    top = BASELINE.fields(
        parse_document(read_text(path, file), file), "a mapping with `known`, a list of violations"
    )
    found: dict[tuple[object, ...], Entry] = {}
    for value in top["known"].elements("a list of violations"):
        entry = _entry(value, [*PROPERTIES, *own])
        key = entry.shape or entry.scenario, entry.property, entry.label, entry.time_of
        if key in found:
            value.fail(f"the same violation is listed at {found[key].place}: remove one of them")
        found[key] = entry
    return tuple(found.values())


def _entry(value: Value, properties: Collection[str]) -> Entry:
    fields = KNOWN.fields(value, "a violation with `scenario`, `property`, `reason` and `until`")
    read = {name: KNOWN[name].value(given) for name, given in fields.items()}
    place = f"{value.file}:{value.line}"
    at = "property"
    try:
        identifier = parse_property(read["property"], list(properties))
        at = "release"
        label = _label(read.get("release", ""))
    except UsageProblem as problem:
        fields[at].fail(str(problem))
    if not read["reason"].strip():
        fields["reason"].fail("it is empty: say why the violation is accepted")
    if not _is_end(read["until"]):
        fields["until"].expect("a date such as 2027-03-31, or a version such as 1.38")
    time, slow = read.get("time", ANY_TIME), tuple(sorted(set(read.get("slow", ()))))
    if slow and time != SCALES:
        fields["slow"].fail(
            f"with `time: {ANY_TIME}` every actor may be slow: add `time: {SCALES}`, or remove this"
        )
    return Entry(
        read["scenario"], identifier, label, read.get("steps"), read["reason"], read["until"], place, time, slow,
        read.get("fair_flush", False), read.get("shape", ""),
    )  # fmt: skip


def _time_of(finding: Finding) -> tuple[str, tuple[str, ...], bool]:
    """What a finding assumes of time, as `Entry.time_of`."""
    scope = finding.scope
    slow = str(scope.get("slow", ""))
    return (
        str(scope.get("time", ANY_TIME)),
        tuple(sorted(slow.split(", "))) if slow else (),
        bool(scope.get("fair_flush", False)),
    )


def _label(text: str) -> str:
    """A version with what is behind it, as reports write it."""
    version, space, rest = text.partition(" ")
    return f"{exact(parse_release(version))}{space}{rest}" if text else ""


def _version(text: str) -> tuple[int, ...] | None:
    match = _VERSION.match(text)
    return None if match is None else tuple(int(part or 0) for part in match.groups())


def _is_end(text: str) -> bool:
    if _VERSION.fullmatch(text):
        return True
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is not None


def held_to_baseline(
    findings: Sequence[Finding], entries: Sequence[Entry], style: Style, today: date
) -> list[Finding]:
    """The findings, where those that are known say so, and notes where an entry is past its end, exceeded, or of no use any more.

    Raises UsageProblem where scenarios of several files have the name that an entry has.
    """
    for entry in entries:
        files = dict.fromkeys(f.place.file for f in findings if f.place is not None and entry.is_of(f))
        if len(files) > 1:
            raise UsageProblem(
                f"{entry.subject}: {listed([one_line(file) for file in files])} both have a scenario of this name: give each its own `name`"
            )
    return [_held(finding, entries, style, today) for finding in findings]


def _held(finding: Finding, entries: Sequence[Entry], style: Style, today: date) -> Finding:
    entry = _entry_of(finding, entries)
    if entry is None:
        return finding
    notes = finding.notes
    if finding.verdict == "HOLDS":
        todo = "no run tests it any more" if finding.vacuous else "take it out of the baseline"
        note = f"{entry.subject} is known and no longer violated on {finding.label}: {todo}"
        return msgspec.structs.replace(finding, notes=(*notes, note))
    if finding.verdict != "VIOLATED" or style.outcome(finding) != "failed":
        return finding
    if entry.is_over(finding, today):
        note = (
            f"{entry.subject} was known until {entry.until}, which is past: mend it, or give it another end"
        )
        return msgspec.structs.replace(finding, notes=(*notes, note))
    steps = len(finding.trace or ())
    if entry.steps is not None and steps < entry.steps:
        note = f"{entry.subject} became worse: violated after {counted(steps, 'step')}, known after {entry.steps}"
        return msgspec.structs.replace(finding, notes=(*notes, note))
    note = f"{entry.subject} is known until {entry.until}: {one_line(entry.reason, 200)}"
    if entry.is_by_name(finding):
        note += (
            f". It has no shape, so every dump in a file of this name passes: add `shape: {finding.shape}`"
        )
    known = Known(entry.reason, entry.until, entry.place)
    return msgspec.structs.replace(finding, notes=(*notes, note), known=known)


def _entry_of(finding: Finding, entries: Sequence[Entry]) -> Entry | None:
    """The entry about a finding: one with a shape, then one that names its version, goes before the others."""
    about = [entry for entry in entries if entry.is_of(finding)]
    return max(about, key=lambda entry: (bool(entry.shape), bool(entry.label)), default=None)


def not_looked_at(entries: Sequence[Entry], findings: Sequence[Finding]) -> list[Entry]:
    """The entries that no finding is about."""
    return [entry for entry in entries if not any(entry.is_of(finding) for finding in findings)]


def questions_failed(findings: Sequence[Finding], style: Style) -> int:
    """How many orders of steps are possible that were not expected to be: an entry names a property, and cannot tell two questions apart."""
    return sum(
        f.property == ASK and f.verdict == "VIOLATED" and style.outcome(f) == "failed" for f in findings
    )


def new_baseline(
    findings: Sequence[Finding], entries: Sequence[Entry], style: Style
) -> tuple[tuple[Entry, ...], int]:
    """The entries of a new baseline, and how many of them have no reason yet. What was known and still is keeps its reason and its end, and
    so does what was not looked at; an entry with which something fails, as it is over or exceeded, begins again without a reason. Questions have none.
    """
    kept = [*not_looked_at(entries, findings)]
    fresh: list[Entry] = []
    for finding in findings:
        if finding.known:
            mine = [
                replace(e, shape=str(finding.shape)) if e.is_by_name(finding) else e
                for e in entries
                if e.is_of(finding)
            ]
            kept += [entry for entry in mine if entry not in kept]
        elif finding.verdict == "VIOLATED" and finding.property != ASK and style.outcome(finding) == "failed":
            fresh.append(
                Entry(
                    finding.scenario,
                    finding.property,
                    finding.label,
                    len(finding.trace or ()),
                    "",
                    _next_minor(finding.release),
                    "",
                    *_time_of(finding),
                    "" if finding.shape is msgspec.UNSET else finding.shape,
                )
            )
    fresh = list(dict.fromkeys(fresh))
    mine = [replace(entry, place="") for entry in kept]
    return (*mine, *(entry for entry in fresh if entry not in mine)), len(fresh)


def _next_minor(release: str) -> str:
    major, minor, _ = _version(release) or (1, 0, 0)
    return f"{major}.{minor + 1}"


def text_of(entries: Sequence[Entry]) -> str:
    """The file."""
    return "".join(f"{line}\n" for line in _lines(entries))


def _lines(entries: Sequence[Entry]) -> Iterator[str]:
    yield "# Violations that are known: `--baseline` lets them pass. Each needs a reason, and an end: a date, or the first version that is to be without."
    if not entries:
        yield "known: []"
        return
    yield "known:"
    for entry in entries:
        yield f"- scenario: {_quoted(entry.scenario)}"
        if entry.shape:
            yield f"  shape: {_quoted(entry.shape)}"
        yield f"  property: {entry.property}"
        if entry.label:
            yield f"  release: {_quoted(entry.label)}"
        if entry.time != ANY_TIME:
            yield f"  time: {entry.time}"
        if entry.slow:
            yield f"  slow: [{', '.join(entry.slow)}]"
        if entry.fair_flush:
            yield "  fair_flush: true"
        if entry.steps is not None:
            yield f"  steps: {entry.steps}"
        yield f"  reason: {_quoted(entry.reason)}"
        yield f"  until: {_quoted(entry.until)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
