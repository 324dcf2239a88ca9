"""Pull requests that are known here by the key of another change, or by a name."""

OTHER_NUMBERS = {
    "73078": "73309",
    "134294": "134730",
    "135392": "hints-see-nominations",
    "135495": "last-victim-spared",
    "137073": "136618",
    "141563": "own-terms-merged",
}
"""Each came in the same versions as the change that it is one with (docs/notebook/history.md)."""


def key_of(name: str) -> str:
    """The key of the change that a name or a number stands for; the name itself if it is none of these."""
    return OTHER_NUMBERS.get(name, name)
