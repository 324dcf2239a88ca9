"""From manifests to the scenario that represents them: what `podrace check -f` checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import msgspec

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import listed, one_line
from ...manifests import Representative, drained, read_manifests, represent
from ...manifests import Size as Size
from ...manifests.doubts import doubts_of
from ...manifests.kept_groups import as_started
from ...manifests.kept_lives import Lives
from ...manifests.left_out import remarks_of
from ...manifests.reading.cluster_version import ClusterVersion
from ...manifests.reading.manifest_files import placed
from ...manifests.telling.scenario_text import scenario_of
from ...manifests.telling.shape import shape_of
from ...manifests.telling.summary import account_of, caveat_of, title_of
from ...manifests.telling.untested import why_untested
from ...model.history.versions import exact, version_of
from ...properties import PROPERTIES
from ...reports.document import NOT_MODELLED, Finding
from ...scenarios import Scenario, parse_scenario
from .in_release import refusal_of
from .option_files import refuse_unwritable, write_text
from .options import FIRST_WITH_CLAIMS, FIRST_WITH_EXTENDED, parse_gates, parse_property
from .plan import compose
from .release_names import NEWEST, like_its_neighbours, nearest_read, parse_release, pre_releases


class Manifests(Data):
    """What the options about manifests ask for, and which properties. `drain` names a node that is drained, `scales`: time has scales. `gates` are as for a scenario. `elsewhere` are options that change the question and have no place in a scenario's file."""

    names: Sequence[str]
    recursive: bool = False
    strict: bool = False
    size: Size = field(default_factory=Size)
    focus: str | None = None
    write: Path | None = None
    release: str | None = None
    properties: Sequence[str] = ()
    elsewhere: Sequence[str] = ()
    drain: str | None = None
    scales: bool = False
    gates: Sequence[str] = ()

    @property
    def is_for_stdout(self) -> bool:
        """Whether the scenario itself is the result: `--write-scenario -`."""
        return self.write == Path("-")


class Represented(Data):
    """The scenario, what is to be said about it before the verdicts, and what beside each.

    `remarks` say what of the objects was left out or abstracted, `doubts` what of that can make something hold that does not. `nearest` says that the
    cluster's version was not read, and that its neighbours are the same. `shape` identifies the scenario whatever the names in it.
    """

    scenario: Scenario
    account: Sequence[str]
    caveat: str
    remarks: Sequence[str] = ()
    kept: Representative | None = None
    doubts: Sequence[str] = ()
    nearest: str = ""
    shape: str = ""
    scales: bool = False

    def on(self, release: str) -> Represented:
        """The same cluster, asked about on another version: what is in doubt there."""
        doubts = [] if self.kept is None else doubts_of(self.kept, release, self.scales)
        return replace(self, doubts=doubts, nearest="")

    @property
    def version(self) -> str:
        """The version of kube-scheduler that the cluster is asked about."""
        return exact(self.scenario.release or NEWEST)

    def tell(self, files: Iterable[str], findings: Iterable[Finding]) -> list[Finding]:
        """The findings, of scenarios in these files, with what was kept and left out, and with why nothing tested a property.

        What holds is not known to hold where something was taken otherwise than it may be.
        """
        return [
            self._doubted(
                msgspec.structs.replace(
                    f, about=self._about, notes=self._notes(f), words=self._words(f), shape=self.shape
                )
            )
            if file == self.scenario.file
            else f
            for file, f in zip(files, findings, strict=True)
        ]

    def _words(self, finding: Finding) -> str:
        return f"{finding.words} {self.nearest}" if self.nearest else finding.words

    def _doubted(self, finding: Finding) -> Finding:
        if not self.doubts or finding.verdict == "IGNORED":
            return finding
        why = "; ".join(self.doubts)
        found = msgspec.structs.replace(finding, scope=finding.scope | {NOT_MODELLED: why})
        if finding.verdict == "VIOLATED":
            note = f"the counterexample can happen in the cluster only if it does not depend on what is not modelled: {why}"
            return msgspec.structs.replace(found, notes=(*finding.notes, note))
        words = "No violation was found. That is no HOLDS for the cluster, because podrace does not model all that decides it."
        return msgspec.structs.replace(
            found, verdict="INCONCLUSIVE", words=words, vacuous=False, never_acted=msgspec.UNSET
        )

    @property
    def _about(self) -> tuple[str, ...]:
        return (*self.account, *(f"note: {remark}" for remark in self.remarks))

    def _notes(self, finding: Finding) -> tuple[str, ...]:
        if not finding.vacuous or self.kept is None:
            return finding.notes
        why = why_untested(self.kept, finding.property, finding.witnesses_missed)
        return (*finding.notes, f"{finding.property} was not tested: {why}")


def scenario_from(asked: Manifests, say: Callable[[str], None]) -> Represented:
    """Read, reduce, and write the scenario down if that is asked for; `say` is told what is to be remarked.

    Raises Problem.
    """
    if asked.write is not None and not asked.is_for_stdout:
        refuse_unwritable("--write-scenario", asked.write)
    wanted = None if asked.release is None else parse_release(asked.release)

    def release_of(named: ClusterVersion | None) -> str | None:
        if wanted is not None or named is None:
            return wanted
        return named.running if named.running in pre_releases() else nearest_read(named.numbers)

    def devices_back(named: ClusterVersion | None) -> bool:
        release = release_of(named)
        return release is None or version_of(release) >= version_of(FIRST_WITH_EXTENDED)

    inventory = read_manifests(asked.names, asked.recursive, asked.strict, devices_back)
    release = release_of(inventory.version)
    gates = parse_gates(asked.gates)
    inventory, set_gates = as_started(inventory, release or NEWEST, gates)
    version = None if release is None else version_of(release)
    said = _version_words(inventory.version, release, wanted)
    if version is not None and version < version_of(FIRST_WITH_CLAIMS):
        inventory = inventory.without_claims(
            f"claims of volumes and devices are modelled from {FIRST_WITH_CLAIMS} on: they are taken to be had everywhere"
        )
    of_cluster = [placed(remark, inventory.sources) for remark in inventory.remarks]
    for remark in of_cluster:
        say(f"note: {remark}")
    told, among = [said] if said else [], None
    if asked.drain is not None:
        after = drained(inventory, asked.drain)
        inventory, among = after.inventory, after.again
        told += after.account
    kept = represent(inventory, asked.size, asked.focus, among)
    of_kept = [placed(remark, inventory.sources) for remark in (*remarks_of(kept), *Lives(kept).remarks())]
    for remark in of_kept:
        say(f"note: {remark}")
    kept = _with_groups(kept, asked, release, {**set_gates, **gates})
    unread, nearest = ([], "") if wanted is not None else _unread_words(inventory.version, release)
    doubts = [*unread, *doubts_of(kept, release, asked.scales)]
    account, caveat = [*told, *account_of(kept, doubts)], caveat_of(kept)
    text = scenario_of(
        kept,
        _name(asked.names),
        title_of(kept),
        account,
        None if release is None else exact(release),
        _in_file(asked),
        set_gates,
    )
    if asked.write is not None and asked.elsewhere:
        say(f"note: the scenario does not say {listed(asked.elsewhere)}: give that again when you check it")
    to_file = asked.write is not None and not asked.is_for_stdout
    file = str(asked.write) if to_file else _shown(asked.names)
    scenario = parse_scenario(text, file)
    if asked.write is not None and to_file:
        write_text("--write-scenario", asked.write, text)
        say(f"wrote {asked.write}")
    else:
        # The lines are those of a text that is in no file.
        sources = {node.name: node.source for node in kept.nodes if node.source}
        sources |= {pod.name: pod.source for pod in kept.pods if pod.source}
        scenario = replace(scenario, lines={}, sources=sources)
    return Represented(
        scenario, account, caveat, [*of_cluster, *of_kept], kept, doubts, nearest, shape_of(text),
        asked.scales,
    )  # fmt: skip


def _with_groups(
    kept: Representative, asked: Manifests, release: str | None, gates: Mapping[str, bool]
) -> Representative:
    """The same without the groups of pods, if the model refuses them in a cluster like this."""
    if not kept.together.groups:
        return kept
    scenario = parse_scenario(scenario_of(kept, _name(asked.names), title_of(kept), ()), _shown(asked.names))
    refused = refusal_of(scenario, compose(release or NEWEST, (), (), gates))
    return replace(kept, refused=refused.removeprefix(f"{scenario.name}: ")) if refused else kept


def _in_file(asked: Manifests) -> list[str]:
    """Those of podrace's properties that are asked for: a file names no others. Raises UsageProblem for one that nobody knows."""
    known = {name.lower() for name in PROPERTIES}
    brought = "--properties" in asked.elsewhere
    named = [name for name in asked.properties if name.lower() in known or not brought]
    return list(dict.fromkeys(parse_property(name, list(PROPERTIES)) for name in named))


def _version_words(named: ClusterVersion | None, release: str | None, wanted: str | None) -> str:
    """Which version the dump names, by what and how surely, and which is checked; nothing where it names none."""
    if named is None or release is None:
        return ""
    running, checked = named.running, exact(release)
    vendor = f"; podrace does not know what {one_line(named.vendor)} changes" if named.vendor else ""
    if wanted is not None:
        differs = "" if checked == running else f"; podrace checks {checked}, as --release says"
        return f"version {running}, by {named.by}{vendor}{differs}"
    near = (
        ""
        if checked == running
        else f"; {running} was not read: podrace checks {checked}, the nearest version of the model"
    )
    return f"version {running}, by {named.by}: {named.sure}{near}{vendor}; --release sets another"


def _unread_words(named: ClusterVersion | None, release: str | None) -> tuple[list[str], str]:
    """Of a cluster whose version was not read: the doubt, or the sentence that the versions before and after it are the same; nothing for others."""
    if named is None or release is None or (running := named.running) == exact(release):
        return [], ""
    if after := "" if named.stage else like_its_neighbours(named.numbers):
        return [], (
            f"The cluster runs {running}, which was not read; {exact(release)} and {exact(after)}, before and after it, are the same."
        )
    return [
        f"the cluster runs {running}, which was not read (--release {exact(release)} gives the verdict on the nearest version)"
    ], ""


MOST_KEPT = 16
"""Of pods, and of nodes: each more multiplies the states."""


MOST_NEEDED = 5
"""So many pods are kept where --pods says nothing and no question needs fewer. On one node they have 8 million states, and each more multiplies them."""


def parse_size(pods: str | None, nodes: str, controllers: bool = False) -> Size:
    """The greatest representative, with the controllers of its pods or without."""
    on = _number("--nodes", nodes, 1)
    if pods is None:
        return Size(nodes=on, controllers=controllers, most=MOST_NEEDED)
    return Size(_number("--pods", pods, 2), on, controllers)


def _number(option: str, text: str, least: int) -> int:
    number = int(text) if re.fullmatch(r"[0-9]{1,3}", text, re.ASCII) else 0
    if not least <= number <= MOST_KEPT:
        raise UsageProblem(
            f"{option}: write a number from {least} to {MOST_KEPT}; each more multiplies the states"
        )
    return number


def _shown(names: Sequence[str]) -> str:
    return "<stdin>" if names[0] == "-" else names[0]


def _name(names: Sequence[str]) -> str:
    """A name for the scenario: that of the first file, where it can be one."""
    stem = Path(names[0]).stem.lower()
    return stem if re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", stem, re.ASCII) else "cluster"
