"""The fields that Kubernetes' objects have: one that is like them and none of them is a mistake.

A reader looks only at the fields that it asks for. So a misspelt one would change what an object means, and nobody would say so. The lists are in known_fields.yaml.
What an API server has written cannot be misspelt, but may be newer than the lists: a field that is like none of them is passed over with a note. In metadata and status nothing is refused.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

import yaml

from ...base.text import one_line
from .manifest_files import Remarks
from .manifest_values import Manifest

_WORDS: Mapping[str, Mapping[str, str]] = yaml.load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"),
    getattr(yaml, "CSafeLoader", yaml.SafeLoader),
)
_ONLY_NOTED = _WORDS["only_noted"]
_TYPES: Mapping[str, Mapping[str, str]] = {
    kind: {name: inner for name, _, inner in (word.partition(":") for word in listed.split())}
    for kind, listed in (*_WORDS["objects"].items(), *_ONLY_NOTED.items())
}
"""The fields of each type, with the type of those that have fields of their own."""

LIKE = 0.85
"""So much alike are a name and its misspelling, with any letters large or small; no two fields that a version of Kubernetes up to 1.37 has added are to those that it had."""


@lru_cache(maxsize=1 << 12)
def likely_field(kind: str, name: str) -> str:
    """The field of a type that is meant by a name which is none of its fields; empty if none is like it."""
    lower = {known.lower(): known for known in _TYPES[kind]}
    close = get_close_matches(name.lower(), lower, n=1, cutoff=LIKE)
    return lower[close[0]] if close else ""


def check_fields(top: Manifest, kind: str, shown: str, remarks: Remarks, strict: bool) -> None:
    """Refuse fields of an object of this kind that are misspelt, and note those that are not known; if `strict`, refuse these, too.

    `shown` is the object as remarks name it. Kinds whose fields are not listed are passed over.
    """
    if kind in _TYPES and not _has_known(top.node, kind):
        _check(top, top.node, top.path, kind, shown, remarks, strict)


def _has_known(node: yaml.Node, kind: str) -> bool:
    """Whether all fields of a value of a type are known: so nearly all are, and their paths need not be made."""
    if isinstance(node, yaml.SequenceNode):
        return all(_has_known(element, kind) for element in node.value)
    if not isinstance(node, yaml.MappingNode):
        return True
    known = _TYPES[kind]
    for key, value in node.value:
        inner = known.get(key.value)
        if inner is None or (inner and not _has_known(value, inner)):
            return False
    return True


def _check(
    top: Manifest, node: yaml.Node, path: str, kind: str, shown: str, remarks: Remarks, strict: bool
) -> None:
    """The same of a value of a type, or of a list of such; what is of another form is its reader's affair."""
    if isinstance(node, yaml.SequenceNode):
        for i, element in enumerate(node.value):
            _check(top, element, f"{path}[{i}]", kind, shown, remarks, strict)
    if not isinstance(node, yaml.MappingNode):
        return
    known = _TYPES[kind]
    for key, value in node.value:
        inner = known.get(key.value)
        if inner:
            _check(top, value, f"{path}.{key.value}" if path else key.value, inner, shown, remarks, strict)
        elif inner is None:
            _unknown(top.at(path, key), kind, shown, remarks, strict)


def _unknown(key: Manifest, kind: str, shown: str, remarks: Remarks, strict: bool) -> None:
    written = key.node.value
    name, likely = one_line(written), likely_field(kind, written)
    if kind in _ONLY_NOTED:
        if likely:
            remarks.add(f"`{name}` is no field of {kind}, and passed over: did you mean `{likely}`?", shown)
    elif likely:
        key.fail(f"unknown field `{name}` of {kind}; did you mean `{likely}`?")
    elif strict:
        key.fail(
            f"unknown field `{name}` of {kind}: remove it, or leave out --strict, and it is passed over with a note"
        )
    else:
        remarks.doubt(f"`{name}` is no field of {kind} in Kubernetes 1.36: passed over", shown, room=True)
