"""The feature gates that a source tree registers, read from its Go code."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.upstream.go_gates import differing, gates_of, read_gates
from podrace.base.problems import UsageProblem
from podrace.model.history.versions.gates import Gate, State

PLAIN = """\
package features

const (
	// owner: somebody
	Early featuregate.Feature = "Early"
	renamed featuregate.Feature = "Renamed"
)

var defaultKubernetesFeatureGates = map[featuregate.Feature]featuregate.FeatureSpec{
	Early: {Default: false, PreRelease: featuregate.Alpha}, // Late: {Default: true},
	genericfeatures.Inherited: {Default: true, PreRelease: featuregate.Beta},

	renamed: {Default: true, PreRelease: featuregate.GA, LockToDefault: true}, // remove in 1.99
}
"""
VERSIONED = """\
package features

var defaultVersionedKubernetesFeatureGates = map[featuregate.Feature]featuregate.VersionedSpecs{
	// Example: {
	//	{Version: version.MustParse("1.30"), Default: false, PreRelease: featuregate.Alpha},
	// },
	Early: {
		{Version: version.MustParse("1.9"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.33"), Default: true, PreRelease: featuregate.Beta},
	},
	Old: {
		{Version: version.MustParse("1.28"), Default: false, PreRelease: featuregate.Deprecated, LockToDefault: true},
	},
}

var needs = map[featuregate.Feature][]featuregate.Feature{
	Early: {Old},
	Third: {},
}
"""


def test_the_map_of_old() -> None:
    assert gates_of(PLAIN) == {
        "Early": State("alpha", False),
        "Inherited": State("beta", True),
        "Renamed": State("GA", True, locked=True),
    }


def test_of_versions_the_last_counts() -> None:
    assert gates_of(VERSIONED) == {
        "Early": State("beta", True),
        "Old": State("deprecated", False, locked=True),
    }
    assert gates_of("package features\n") == {}


@pytest.mark.parametrize("place", ["pkg/features", "vendor/k8s.io/kubernetes/pkg/features", "."])
def test_both_files_of_a_tree_count(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / place / "kube_features.go").write_text(PLAIN)
    (tmp_path / place / "versioned_kube_features.go").write_text(VERSIONED)
    found = read_gates(tmp_path)
    assert set(found) == {"Early", "Inherited", "Renamed", "Old"}
    assert found["Early"] == State("beta", True)


def test_what_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(
        UsageProblem,
        match=r"has no pkg/features/kube_features\.go: name the root of a kubernetes source tree",
    ):
        read_gates(tmp_path)
    (tmp_path / "kube_features.go").write_bytes(b"\xff")
    with pytest.raises(UsageProblem, match=r"kube_features\.go: cannot be read: it is not UTF-8"):
        read_gates(tmp_path)


def test_the_table_is_held_against_a_tree() -> None:
    history = (("1.32", State("alpha", False)), ("1.33", State("beta", True)), ("1.36", None))
    unknown = Gate("Dark", "", (("1.8", State("unknown", False)),))
    table = {"Early": Gate("Early", "", history), "Dark": unknown}
    words = [d.words for d in differing("1.32.2", {"Early": State("beta", True)}, table)]
    assert words == ["Early: beta, on, was: alpha, off"]
    assert differing("1.33", {"Early": State("beta", True)}, table) == []
    assert [d.words for d in differing("1.34.4", {}, table)] == ["Early: no such gate, was: beta, on"]
    assert [d.words for d in differing("1.36", gates_of(VERSIONED), table)] == [
        "Early: beta, on, was: no such gate"
    ]
