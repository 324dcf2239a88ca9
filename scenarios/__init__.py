"""Clusters and their scope as YAML: the scenarios that come with podrace, and the reader for the user's own."""

from .catalogue import catalogue, find_scenarios, hazards, number_of
from .reader.scenario import Expectation, Race, Scenario
from .reader.scenario_reader import parse_scenario, read_scenario
from .reader.values.yaml_values import ScenarioError, known_names, one_line

__all__ = [
    "Expectation", "Race", "Scenario", "ScenarioError", "catalogue", "find_scenarios", "hazards", "known_names", "number_of", "one_line",
    "parse_scenario", "read_scenario",
]  # fmt: skip
