"""What `--release` takes each spelling of a version for."""

from __future__ import annotations

import pytest

from podrace.analysis.request.release_names import parse_release
from podrace.base.problems import UsageProblem
from podrace.model.history.versions import exact

MEANT = {
    "1.34": "1.34.11",
    "v1.34": "1.34.11",
    "V1.34": "1.34.11",
    "1.34 ": "1.34.11",
    " v1.34\n": "1.34.11",
    "01.034": "1.34.11",
    "1.34.0": "1.34.0",
    "v1.34.11": "1.34.11",
    "1.9": "1.9.0",
    "latest": "1.37.2",
    "Latest": "1.37.2",
    "1.38.0-beta.0": "1.38.0-beta.0",
    "v1.38.0-beta.0": "1.38.0-beta.0",
}

KNOWN = "write for example 1.34, 1.34.3 or latest; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0"
BETA = "1.38.0-beta.0 is a beta; write it in full"
REFUSED = {
    "1.34.99": "known of 1.34: 1.34.0, 1.34.2, 1.34.3, 1.34.4, 1.34.11; take 1.34.11, and add with --with-fix what came after it",
    "1.38": BETA,
    "1.38.0": BETA,
    "1.38.0-alpha.1": BETA,
    "1.34.0-rc.1": "the nearest: 1.34.0",
    "v1.34.5-gke.100": "what a vendor adds is not modelled; the nearest: 1.34.4",
    "v1.34.5+k3s1": "what a vendor adds is not modelled; the nearest: 1.34.4",
    "v1.34.5-eks-1-34-7": "what a vendor adds is not modelled; the nearest: 1.34.4",
    "1.7": "the nearest: 1.8.0; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0",
    "1.340": "the nearest: 1.37.2; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0",
    "2.0": "the nearest: 1.37.2; the model has 1.8.0 to 1.37.2, and 1.38.0-beta.0",
    "1": KNOWN,
    "newest": KNOWN,
    "master": KNOWN,
    "release-1.34": KNOWN,
    "1.34.x": KNOWN,
    "1. 34": KNOWN,
    "1,34": KNOWN,
    "e3b0c44298fc": KNOWN,
    "１.34": KNOWN,
    "": KNOWN,
}


@pytest.mark.parametrize("text", MEANT)
def test_a_version_as_users_write_it(text: str) -> None:
    assert exact(parse_release(text)) == MEANT[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_version_of_the_model_gets_the_remedy(text: str) -> None:
    with pytest.raises(UsageProblem) as problem:
        parse_release(text)
    assert str(problem.value).startswith(f"unknown release `{text}`")
    assert str(problem.value).endswith(REFUSED[text])
