"""The published JSON Schemas: valid, current, and what the reports are by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from podrace.reports.document import Finding
from podrace.reports.filtered import to_json
from podrace.reports.formats.json_schema import DOCUMENTS, format_schema, schema_of
from tests.profiles import examples
from tests.reports.findings import findings
from tests.reports.samples import ALL, from_json
from tests.reports.standards import assert_matches

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_published_schema_is_current(name: str) -> None:
    """`podrace schema NAME > docs/schema/NAME.json` makes it so."""
    assert (PUBLISHED / f"{name}.json").read_text(encoding="utf-8") == format_schema(schema_of(name))


def test_nothing_else_is_published() -> None:
    assert sorted(path.stem for path in PUBLISHED.iterdir()) == sorted([*DOCUMENTS, "scenario", "baseline"])


def test_a_report_is_as_its_schema_says() -> None:
    assert_matches(schema_of("report"), json.loads(to_json(ALL)))


def test_what_is_no_report_is_not() -> None:
    (row,) = json.loads(to_json(ALL[:1]))
    changes: list[dict[str, object]] = [{"verdict": "PERHAPS"}, {"states": "many"}, {"trace": [{}]}]
    for change in changes:
        with pytest.raises(AssertionError):
            assert_matches(schema_of("report"), [{**row, **change}])


@settings(max_examples=examples(40), deadline=None)
@given(findings())
def test_any_report_is_as_its_schema_says_and_can_be_read_back(finding: Finding) -> None:
    assert_matches(schema_of("report"), json.loads(to_json([finding])))
    assert from_json(to_json([finding])) == [finding]
