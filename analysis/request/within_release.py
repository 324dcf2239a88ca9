"""Whether the fix of a race is in all versions of a release."""

from ...base.text import listed
from ...model.history import CHANGES, resolve
from ...model.history.versions import exact, version_of
from .plan import Run
from .release_names import versions_of


def within_release(run: Run) -> str:
    """That the fix of a race is in some versions of the release that is checked and not in others; nothing where it is not so.

    It is read in the history of the fix, and not searched.
    """
    race, composition = run.scenario.race, run.composition
    if race is None or run.property not in run.scenario.properties or run.expected is not None:
        return ""
    if (
        set(composition.added) - set(race.beside)
        or composition.removed
        or composition.patches
        or composition.gates
    ):
        return ""
    fixes = set(race.fixes) & CHANGES.keys()
    minor = version_of(composition.release).minor
    has = {v: fixes.isdisjoint(c.key for c in resolve(v).missing) for v in versions_of(minor)}
    if len(set(has.values())) == 1:
        return ""
    close = "closes" if len(fixes) == 1 else "close"
    having, lacking = ([exact(v) for v in has if has[v] is wanted] for wanted in (True, False))
    return (
        f"the versions of {minor} differ: {listed(race.fixes)}, which {close} this race, "
        f"{'is' if len(fixes) == 1 else 'are'} in {listed(having)}, and not in {listed(lacking)}"
    )
