"""In which versions a case of a table says something."""

import pytest

from tests.conformance.cases.cases import applies, restated


@pytest.mark.parametrize(
    ("bounds", "reached"),
    [
        ({}, ["1.9", "1.33.6", "1.34", "1.34.2", "1.34.4", "1.35"]),
        ({"min": "1.34"}, ["1.34", "1.34.2", "1.34.4", "1.35"]),
        ({"min": "1.34.0"}, ["1.34", "1.34.2", "1.34.4", "1.35"]),
        ({"min": "1.34.3"}, ["1.34.4", "1.35"]),
        ({"max": "1.34"}, ["1.9", "1.33.6", "1.34", "1.34.2", "1.34.4"]),
        ({"max": "1.34.2"}, ["1.9", "1.33.6", "1.34", "1.34.2"]),
    ],
)
def test_a_case_applies_to_versions_within_its_bounds(bounds, reached):
    versions = ["1.9", "1.33.6", "1.34", "1.34.2", "1.34.4", "1.35"]
    assert [v for v in versions if applies({"applies_to": bounds}, v)] == reached


def test_an_expectation_of_a_later_version():
    case = {"expected": 1, "expected_from_1_34": 2, "expected_from_1_34_3": 3}
    assert [restated(case, v) for v in ("1.33.13", "1.34", "1.34.2", "1.34.4", "1.35")] == [
        None,
        (2,),
        (2,),
        (3,),
        (3,),
    ]
