"""Kernels, functions in a small part of Python, as native code."""
