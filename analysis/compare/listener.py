"""Who is notified of the rows of a comparison as they are decided."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class Listener(Generic[Row]):
    """Is notified of each row as soon as it is decided, and does nothing, unless a subclass does."""

    def begin(self, before: str, after: str, asked: Sequence[tuple[str, ...]]) -> None:
        """Two schedulers will be compared. `asked` has what names each row, in their order."""

    def decided(self, row: Row) -> None:
        """The next row is decided."""


DEAF: Listener[Any] = Listener()
"""The listener that does nothing."""
