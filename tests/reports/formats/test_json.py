"""The report for programs."""

from __future__ import annotations

import json

import msgspec
import pytest

from podrace.reports.filtered import to_json
from tests.reports.golden import assert_golden
from tests.reports.samples import ALL, VIOLATED, from_json


def test_every_verdict() -> None:
    assert_golden("all.json", to_json(ALL))


def test_the_fields_that_programs_rely_on() -> None:
    (row,) = json.loads(to_json([VIOLATED]))
    assert [row[key] for key in ("scenario", "release", "fixes", "property", "verdict")] == [
        "nominated-node-race",
        "1.13",
        {"added": [], "removed": []},
        "S-NOM",
        "VIOLATED",
    ]
    assert (row["states"], row["transitions"], row["depth"], row["seconds"]) == (2400000, 9100000, 4, 1.234)
    assert row["trace"][2] == {
        "number": 3,
        "actor": "binding cycle of a pod",
        "component": "binding",
        "step": "bind",
        "args": {"pod": "q", "ok": True},
        "summary": "POST the Binding <first & last>",
        "changes": [
            {
                "variable": "api.node[q]",
                "before": None,
                "after": "n1",
                "said": "API: q is bound to n1",
                "decisive": True,
            },
            {"variable": "mine.seen[q]", "before": False, "after": True},
        ],
    }


def test_a_report_can_be_read_back() -> None:
    assert from_json(to_json(ALL)) == ALL


def test_nothing_found_is_an_empty_list() -> None:
    assert to_json([]) == "[]\n"


def test_what_is_no_report_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        from_json('[{"scenario": 1}]')
    assert str(caught.value) == "Expected `str`, got `int` - at `$[0].scenario`"
