"""The commands and their options. Every other floor is imported only by the command that needs it."""

from . import check, conform, export, listings, prove, simulate

__all__ = ["check", "conform", "export", "listings", "prove", "simulate"]
