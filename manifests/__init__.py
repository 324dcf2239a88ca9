"""Kubernetes objects as kubectl writes them, and the small cluster that represents them."""

from .drained import drained
from .inventory import Inventory, read_manifests
from .representative import Representative, Size, represent

__all__ = ["Inventory", "Representative", "Size", "drained", "read_manifests", "represent"]
