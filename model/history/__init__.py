"""Histories of the upstream scheduler: which version has which behaviour."""
