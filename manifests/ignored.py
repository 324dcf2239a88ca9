"""The annotation by which a pod says what is not to be looked at for it: `podrace.io/ignore: "S-UNIQ: the reason"`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..scenarios.reader.expectations import MAX_REASON
from .documents import Manifest

ANNOTATION = "podrace.io/ignore"

_LINE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,62}):\s*(\S.*)")


def read_ignored(metadata: Mapping[str, Manifest]) -> Mapping[str, str]:
    """Of these fields of a metadata: the properties that are not to be looked at, each with the reason."""
    if "annotations" not in metadata:
        return {}
    annotations = metadata["annotations"].fields((ANNOTATION,), "a mapping from annotations to texts")
    if ANNOTATION not in annotations:
        return {}
    value = annotations[ANNOTATION]
    wanted = 'a line for each property, with the reason: "S-UNIQ: the reason"'
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, value.text(wanted).splitlines())):
        match = _LINE.fullmatch(line)
        if match is None:
            value.expect(wanted)
        identifier, reason = match[1], match[2].strip()
        if identifier in found:
            value.fail(f"{identifier} is given twice: remove one of the lines")
        if not reason.isprintable() or len(reason) > MAX_REASON:
            value.fail(
                f"expected for {identifier} a reason of at most {MAX_REASON} printable characters in one line"
            )
        found[identifier] = reason
    if not found:
        value.expect(wanted)
    return found
