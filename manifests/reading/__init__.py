"""Kubernetes objects as they are written, kind by kind: each value knows its place in a file."""
