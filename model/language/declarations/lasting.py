"""How long steps take: what is done before minutes have passed, what waits for minutes, and what takes any time."""

from enum import Enum


class Lasts(Enum):
    """How long a step may be possible before it happens, by the scale of time that it belongs to."""

    SHORT = "done before minutes have passed: work in process, API calls, watches, backoffs"
    MINUTES = "a timer: possible only after minutes in which its guard held"
    ANY_TIME = "at once, after minutes, or never: what people do, and faults"
