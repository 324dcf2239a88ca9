"""The report as one HTML page that needs nothing else: no network, no other file, and for reading no JavaScript."""

from .page import to_html

__all__ = ["to_html"]
