"""What is said about objects that are left out or only partly understood: one line for each kind of remark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Remarks:
    """Remarks, each with the objects that it is about, in the order in which they came up."""

    about: dict[str, list[str]] = field(default_factory=dict)

    def add(self, remark: str, name: str) -> None:
        """Note a remark about an object."""
        self.about.setdefault(remark, []).append(name)

    def lines(self) -> Iterator[str]:
        """One line for each remark, with its first objects."""
        for remark, names in self.about.items():
            more = f" and {len(names) - 2} more" if len(names) > 2 else ""
            yield f"{remark} ({', '.join(names[:2])}{more})"
