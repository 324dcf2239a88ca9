"""Names that the model does not have."""

from collections.abc import Sequence


class UnknownName(LookupError):
    """A release, a change or a gate that the model does not have; `known` lists those that it has."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        super().__init__(f"unknown {what} `{name}`; known: {', '.join(known)}")
