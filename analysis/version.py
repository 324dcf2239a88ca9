"""Which podrace this is: what it writes into its findings, its listings and its traces."""

from ..checker.core.installed import version_of_package


def podrace_version() -> str:
    """The version of the installed podrace; empty where it runs without having been installed."""
    return version_of_package("podrace") or ""
