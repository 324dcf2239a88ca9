"""Finds the packages in the top-level folders, so that a new sub-package needs no list edited.

Everything else is in pyproject.toml. A new top-level folder is added to FOLDERS.
"""

from setuptools import find_packages, setup

FOLDERS = (
    "base",
    "model",
    "checker",
    "properties",
    "patching",
    "reports",
    "scenarios",
    "manifests",
    "analysis",
    "audit",
    "reproduce",
    "api",
    "cli",
)

setup(
    packages=[
        f"podrace.{package}"
        for package in find_packages(include=[pattern for name in FOLDERS for pattern in (name, f"{name}.*")])
    ]
)
