"""The shape of a scenario that represents a dump: equal for equal clusters, whatever the names of their pods and nodes, and the time of day."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import yaml

NAMED = ("nodes", "pods")
TIMES = ("creationTimestamp", "startTime")


def shape_of(text: str) -> str:
    """Twelve hexadecimal digits. Names are replaced by places in an order that does not depend on them; times, by their order."""
    document = yaml.load(text, yaml.BaseLoader)  # times and numbers as they are written
    about = {
        key: value for key, value in document.items() if key not in ("name", "title", "release", "properties")
    }
    names = {name for section in NAMED for name in about.get(section, ())}
    times = sorted({pod[key] for pod in about.get("pods", {}).values() for key in TIMES if key in pod})
    places: dict[str, str] = {time: f"time {number}" for number, time in enumerate(times)}
    for section in NAMED:
        bare = {
            name: _written(value, dict.fromkeys(names, "?") | places)
            for name, value in about.get(section, {}).items()
        }
        ordered = sorted(
            bare, key=lambda name: bare[name]
        )  # those that are alike stay in the order of the text
        places |= {name: f"{section} {number}" for number, name in enumerate(ordered)}
    return hashlib.sha256(_written(about, places).encode()).hexdigest()[:12]


def _written(value: Any, places: Mapping[str, str]) -> str:
    return json.dumps(_placed(value, places), sort_keys=True)


def _placed(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {places.get(key, key): _placed(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_placed(inner, places) for inner in value]
    return places.get(value, value) if isinstance(value, str) else value
