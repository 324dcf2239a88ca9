"""KubeSchedulerConfiguration: which plugins run for whose pods, and what of their arguments the model heeds."""

from collections.abc import Mapping
from dataclasses import field, replace
from difflib import get_close_matches

from ...base.structs import Data
from ...base.text import one_line
from .known_fields import LIKE, check_fields
from .manifest_files import Remarks
from .manifest_values import Fields, Manifest
from .pod_objects import DEFAULT_SCHEDULER, is_hard

POINTS = ("multiPoint", "preFilter", "filter", "postFilter")
MODELLED = (
    "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "DefaultPreemption",
)  # fmt: skip
"""Plugins of the model that a profile may switch off."""

KEPT = {
    "SchedulingGates": ("preEnqueue",),
    "VolumeBinding": ("preFilter", "filter", "reserve", "preBind"),
    "VolumeRestrictions": ("preFilter", "filter"),
    "DynamicResources": ("preEnqueue", "preFilter", "filter", "reserve", "preBind"),
    "NodeDeclaredFeatures": ("preFilter", "filter"),
}
"""Plugins of the model that no profile can switch off there, and the points at which they decide."""

_COUNTED_BEFORE = ("NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity")
"""Plugins of the model whose Filter needs what their PreFilter has counted."""

_ELSEWHERE = ("preEnqueue", "queueSort", "reserve", "permit", "preBind", "bind", "postBind")
_ALWAYS = ("PrioritySort", "DefaultBinder", *MODELLED, *KEPT)

_HARMLESS = (
    "ImageLocality", "NodeResourcesBalancedAllocation", "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
    "SelectorSpread", "DefaultPodTopologySpread", "NodePreferAvoidPods", "NodeName", "VolumeZone", "NodeVolumeLimits", "EBSLimits", "GCEPDLimits",
    "AzureDiskLimits", "CinderLimits", "GangScheduling",
)  # fmt: skip
"""Plugins of Kubernetes' own that only score, or that run by default: what claims and groups of pods lack of them is a doubt about the pods that have any."""

_PREEMPTION = {"minCandidateNodesPercentage": 100, "minCandidateNodesAbsolute": 1000}
_BY_DEFAULT = {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}


class Profile(Data):
    """A profile: the plugins of MODELLED, and GangScheduling, that it does without, preemption's settings, and the resources that NodeResourcesFit ignores.

    Of these, what ends in a slash stands for all resources of a group.
    """

    name: str = DEFAULT_SCHEDULER
    without: frozenset[str] = frozenset()
    preemption: Mapping[str, int] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()

    def ignores(self, resource: str) -> bool:
        """Whether a pod's request for this resource keeps it from no node (fitsRequest in noderesources/fit.go, 1.36)."""
        group, slash, _ = resource.partition("/")
        extended = slash and "kubernetes.io/" not in resource and not resource.startswith("requests.")
        return bool(extended) and not self.ignored.isdisjoint((resource, group + slash))


class Configuration(Data):
    """The profiles by name; None of a name that no profile has: another scheduler looks after such pods."""

    profiles: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT_SCHEDULER: Profile()})

    def of(self, scheduler: str) -> Profile | None:
        """The profile for pods that name this scheduler."""
        return self.profiles.get(scheduler)

    @property
    def preemption(self) -> Mapping[str, int]:
        """Preemption's settings, of the first profile that has any."""
        return next((p.preemption for p in self.profiles.values() if p.preemption), {})


KIND = "KubeSchedulerConfiguration"

_WITH_ARGUMENTS = ("DefaultPreemption", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread")
"""The plugins whose arguments are read."""

_WITHOUT_PROFILES = {
    "schedulerName": "write a profile with it",
    "plugins": "move it into a profile",
    "pluginConfig": "move it into a profile",
}
"""Fields of v1alpha1, which knew no profiles, and where they belong since."""

_BACKOFFS, MINUTE = ("podInitialBackoffSeconds", "podMaxBackoffSeconds"), 60

_PROVIDERS = ("DefaultProvider", "ClusterAutoscalerProvider")
"""The providers that filter by what runs by default; the second one only scores otherwise (algorithmprovider/registry.go, 1.18)."""


def read_configuration(top: Manifest, remarks: Remarks, strict: bool = False) -> Configuration:
    """A KubeSchedulerConfiguration. As kube-scheduler reads it, a misspelt field is refused; if `strict`, any that is not known."""
    check_fields(top, KIND, KIND, remarks, strict)
    fields = top.mapping("a configuration")
    _refuse_old(fields)
    if "percentageOfNodesToScore" in fields:
        fields["percentageOfNodesToScore"].integer(0, 100)
        remarks.add("below 100 nodes every node is examined: percentageOfNodesToScore is left out", top.file)
    if any(fields.integer(name, 1, 2**63 - 1, 1) >= MINUTE for name in _BACKOFFS):
        remarks.doubt(
            "a backoff may take minutes, as the periodic flush does: scales of time take it for shorter",
            top.file,
            scales=True,
        )
    ignored = _read_extenders(fields, remarks)
    profiles: dict[str, Profile] = {}
    for element in fields.elements("profiles", "a list of profiles"):
        profile = _profile(element, remarks, strict)
        if profile.name in profiles:
            element.fail(f"the profile `{profile.name}` is there twice: give each another schedulerName")
        profiles[profile.name] = profile
    settings = {repr({**_BY_DEFAULT, **p.preemption}) for p in profiles.values()}
    if len(settings) > 1:
        remarks.doubt(
            "the arguments of DefaultPreemption differ: those of one profile count for all", top.file
        )
    found = profiles or {DEFAULT_SCHEDULER: Profile()}
    return Configuration({n: _with_ignored(p, ignored) for n, p in found.items()})


def _refuse_old(fields: Fields) -> None:
    """Refuse what configurations of v1alpha1 and v1alpha2 decide by other fields than profiles, unless it is as without the field: so kube-scheduler writes them itself (--write-config-to)."""
    for name, remedy in _WITHOUT_PROFILES.items():
        if name in fields and not _is_default(name, fields[name]):
            fields[name].fail(f"a configuration has no such field since v1alpha2: {remedy}")
    if fields.boolean("disablePreemption"):
        fields["disablePreemption"].fail(
            "a configuration has no such field since v1beta1: disable DefaultPreemption at postFilter in each profile"
        )
    if "algorithmSource" in fields:
        source = fields.below("algorithmSource")
        provider = source.scalar("provider", "the name of a provider")
        if provider not in _PROVIDERS and (provider or "policy" in source):
            fields["algorithmSource"].fail(
                "a configuration has no such field since v1alpha2: say in a profile which plugins run"
            )


def _is_default(name: str, value: Manifest) -> bool:
    """Whether a field of v1alpha1 says what holds without it."""
    if name == "schedulerName":
        return value.text("the name of a scheduler") == DEFAULT_SCHEDULER
    return not value.node.value


def _with_ignored(profile: Profile, ignored: frozenset[str]) -> Profile:
    """What extenders ignore takes the place of the profile's ignoredResources (scheduler.go, buildExtenders); its groups stay."""
    groups = frozenset(name for name in profile.ignored if name.endswith("/"))
    return replace(profile, ignored=groups | ignored) if ignored else profile


_VERBS = {
    "filterVerb": "which nodes it rejects is not in the objects, so it lets all through; a written scenario has extenderSelector for that",
    "preemptVerb": "it is not asked about victims",
    "bindVerb": "its Bindings are taken for kube-scheduler's own",
}
"""What is left out where an extender has a verb. Its scores (prioritizeVerb) need no model: every feasible node may win."""


def _read_extenders(configuration: Fields, remarks: Remarks) -> frozenset[str]:
    """What extenders may decide that the verdict does not heed; gives the resources that NodeResourcesFit ignores because of them (buildExtenders)."""
    seen: set[str] = set()
    ignored: set[str] = set()
    binders = 0
    for element in configuration.elements("extenders", "a list of extenders"):
        fields = element.mapping("an extender: a mapping")
        verbs = {v: fields.text(v, "a verb") for v in (*_VERBS, "prioritizeVerb")}
        weight = fields.integer("weight", -(2**63), 2**63 - 1, 0)
        if verbs.get("prioritizeVerb") and weight <= 0:
            element.fail("kube-scheduler refuses prioritizeVerb without a positive `weight`: add one")
        binders += bool(verbs.get("bindVerb"))
        if binders > 1:
            fields["bindVerb"].fail(
                "kube-scheduler takes one extender that binds: remove `bindVerb` from the others"
            )
        managed = _managed(fields, seen)
        mine = [name for name, is_ignored in managed.items() if is_ignored]
        ignored.update(mine)
        url = (
            fields.text("urlPrefix", "the address of an extender") if "urlPrefix" in fields else element.path
        )
        whose = f" (asked for pods with {', '.join(managed)} only)" if managed else ""
        for verb, why in _VERBS.items():
            if verbs.get(verb):
                remarks.doubt(f"{verb} of an extender is left out: {why}{whose}", url, asking=managed)
        passed_over = fields.boolean("ignorable")
        if mine and passed_over:
            remarks.doubt(
                f"nobody counts {', '.join(mine)} while a call to this extender fails, as it is ignorable and the scheduler ignores that",
                url,
                asking=mine,
            )
        elif mine:
            remarks.add(f"NodeResourcesFit ignores {', '.join(mine)}, which an extender counts", url)
    return frozenset(ignored)


def _managed(extender: Fields, seen: set[str]) -> dict[str, bool]:
    """The resources that an extender manages, each with whether the scheduler is to ignore it."""
    found: dict[str, bool] = {}
    for fields in extender.mappings("managedResources", "a list of resources", "a resource with `name`"):
        name = fields.need("name", "name the resource").text("the name of a resource")
        if name in seen:
            fields["name"].fail(f"kube-scheduler takes one extender for {name}: name it once")
        seen.add(name)
        found[name] = fields.boolean("ignoredByScheduler")
    return found


def _profile(value: Manifest, remarks: Remarks, strict: bool) -> Profile:
    fields = value.mapping("a profile: a mapping")
    name = (
        fields.text("schedulerName", "the name of a scheduler")
        if "schedulerName" in fields
        else DEFAULT_SCHEDULER
    )
    without = _without(fields["plugins"], remarks) if "plugins" in fields else frozenset()
    preemption: dict[str, int] = {}
    ignored: frozenset[str] = frozenset()
    for plugin in fields.mappings("pluginConfig", "a list of arguments", "a plugin's arguments: a mapping"):
        of = plugin.need("name", "say which plugin the arguments are for").text("a plugin")
        if of in _WITH_ARGUMENTS and "args" in plugin:
            check_fields(plugin["args"], f"{of}Args", f"{of} of {name}", remarks, strict)
        preemption |= _arguments(of, plugin, remarks)
        if of == "NodeResourcesFit":
            ignored |= _ignored(plugin)
    return Profile(name, without, preemption, ignored)


def _ignored(plugin: Fields) -> frozenset[str]:
    args = plugin.below("args")
    return frozenset(
        f"{name}{end}"
        for field, end in (("ignoredResources", ""), ("ignoredResourceGroups", "/"))
        for name in args.texts(field, "a list of names", "the name of a resource, or of a group")
    )


def _without(value: Manifest, remarks: Remarks) -> frozenset[str]:
    """The modelled plugins that do not run at the point where they reject pods, or preempt for them."""
    sets = value.fields((*POINTS, *_ELSEWHERE), "a mapping from extension points to plugins")
    enabled: dict[str, list[str]] = {}
    disabled: dict[str, list[str]] = {}
    for point, given in sets.items():
        lists = given.mapping("a mapping with `enabled` and `disabled`")
        enabled[point], disabled[point] = _plugins(lists, "enabled"), _plugins(lists, "disabled")
        for plugin in enabled[point]:
            if plugin not in _ALWAYS:
                note = remarks.add if plugin in _HARMLESS else remarks.doubt
                note("plugins that are enabled in addition to the modelled ones are left out", plugin)
        for plugin in disabled[point]:
            if likely := _meant(plugin):
                remarks.add(
                    f"kube-scheduler has no such plugin to disable, and goes on without a word: did you mean `{likely}`?",
                    one_line(plugin),
                )

    def without(plugin: str, point: str) -> bool:
        return plugin in disabled.get(point, ()) or "*" in disabled.get(point, ())

    def runs(plugin: str, point: str) -> bool:
        """Whether it runs there: what a point enables by itself counts before what multiPoint says (expandMultiPointPlugins in framework/runtime/framework.go, 1.36)."""
        everywhere = plugin in enabled.get("multiPoint", ()) or not without(plugin, "multiPoint")
        return plugin in enabled.get(point, ()) or (everywhere and not without(plugin, point))

    off = {p for p in MODELLED if not runs(p, "postFilter" if p == "DefaultPreemption" else "filter")}
    for plugin in _COUNTED_BEFORE:
        if plugin not in off and not runs(plugin, "preFilter"):
            remarks.doubt(
                "a plugin that filters, and whose preFilter is switched off, lets no pod pass (its Filter ends in an error): it is taken to have both",
                plugin,
            )
    for plugin, points in KEPT.items():
        if not all(runs(plugin, point) for point in points):
            remarks.doubt("plugins that are disabled, but cannot be in the model, are kept", plugin)
    if not all(runs("GangScheduling", point) for point in ("preEnqueue", "permit", "reserve")):
        off.add("GangScheduling")
    return frozenset(off)


def _meant(name: str) -> str:
    """The plugin of the model that is meant by a name which is none of its plugins; empty if none is like it."""
    lower = {plugin.lower(): plugin for plugin in _ALWAYS}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=LIKE) if name not in _ALWAYS else []
    return lower[close[0]] if close else ""


def _plugins(lists: Fields, name: str) -> list[str]:
    return [
        plugin.need("name", "name the plugin").text("the name of a plugin")
        for plugin in lists.mappings(name, "a list of plugins", "a plugin with `name`")
    ]


def _arguments(name: str, plugin: Fields, remarks: Remarks) -> dict[str, int]:
    fields = plugin.below("args", "a mapping of arguments")
    if name == "NodeAffinity" and "addedAffinity" in fields:
        remarks.doubt("addedAffinity is not modelled: left out", fields.place.path)
    if name == "PodTopologySpread":
        for constraint in fields.mappings("defaultConstraints", "a list of constraints", "a constraint"):
            when = constraint.get("whenUnsatisfiable")
            if when is None or is_hard(when):
                remarks.doubt(
                    "defaultConstraints of PodTopologySpread are not modelled: left out, and the verdict is not about pods "
                    "that have no constraints of their own and get these",
                    fields.place.path,
                )
                break
    if name != "DefaultPreemption":
        return {}
    return {name: fields[name].integer(0, most) for name, most in _PREEMPTION.items() if name in fields}
