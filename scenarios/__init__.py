"""Clusters and bounds as YAML: the scenarios that come with podrace, and the reader for the user's own."""

from .catalogue import catalogue, find_scenarios, number_of
from .reader.errors import ScenarioError, known_names, one_line
from .reader.expectations import Expectation, Race
from .reader.reader import parse_scenario, read_scenario
from .scenario import Scenario

__all__ = [
    "Expectation", "Race", "Scenario", "ScenarioError", "catalogue", "find_scenarios", "known_names", "number_of", "one_line",
    "parse_scenario", "read_scenario",
]  # fmt: skip
