"""Kubernetes objects as kubectl writes them, and the small cluster that represents them."""

from .inventory import Inventory, read_manifests
from .representative import Representative, Size, represent

__all__ = ["Inventory", "Representative", "Size", "read_manifests", "represent"]
