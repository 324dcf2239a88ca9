"""Clusters and their scope as YAML: the scenarios that come with podrace, and the reader for the user's own."""

from .catalogue import catalogue, find_scenarios, hazards, number_of, selected, shipped
from .reader.scenario import AskedOrder, Expectation, Race, Scenario
from .reader.scenario_reader import parse_scenario, read_scenario

__all__ = [
    "AskedOrder", "Expectation", "Race", "Scenario", "catalogue", "find_scenarios", "hazards", "number_of", "parse_scenario", "read_scenario", "selected",
    "shipped",
]  # fmt: skip
