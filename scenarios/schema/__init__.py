"""The JSON Schema (draft 2020-12) of scenario files, for editors; made from the names and bounds that the reader has."""

from .document import schema_of_scenarios

__all__ = ["schema_of_scenarios"]
