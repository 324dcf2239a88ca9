"""A file beside that of a property class: what it asks of symbols is asked as there."""

from __future__ import annotations

from typing import Any

from podrace.model.scheduler.queue.sub_queues import SubQueue


def is_backoff(symbol: Any) -> bool:
    return symbol is SubQueue.BACKOFF
