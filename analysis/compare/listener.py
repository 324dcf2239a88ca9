"""Who is notified of the rows of a comparison as they are decided."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

Row = TypeVar("Row", contravariant=True)


class Listener(Protocol[Row]):
    """Is notified of each row as soon as it is decided."""

    def begin(self, before: str, after: str, asked: Sequence[tuple[str, ...]]) -> None:
        """Two schedulers will be compared. `asked` has what names each row, in their order."""

    def decided(self, row: Row) -> None:
        """The next row is decided."""


class _Deaf:
    def begin(self, before: str, after: str, asked: Sequence[tuple[str, ...]]) -> None:
        pass

    def decided(self, row: Any) -> None:
        pass


DEAF: Listener[Any] = _Deaf()
"""The listener that does nothing."""
