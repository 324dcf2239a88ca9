"""Kinds of fields that nodes and pods have in common."""

from .kinds import LABEL_KEY, Kind, Schema, list_of, refers, table_of

MAX_PODS, MAX_VERSIONS, MAX_REASON = 1000, 8, 200

CPU, BYTES = refers("CPU quantity", "cpu"), refers("bytes", "bytes")
RESOURCES = table_of("names to whole numbers", {"type": ["string", "number"]})
FEATURES = list_of(
    "list of names", LABEL_KEY, wanted="a list of features, such as [GuaranteedQoSPodCPUResize]"
)
_REASON: Schema = {"type": "string", "minLength": 1, "maxLength": MAX_REASON}
REASONS: Kind = table_of("properties to reasons", _REASON)
