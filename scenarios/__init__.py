"""Scenarios shipped with podrace, as YAML files beside this module."""
