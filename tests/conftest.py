"""Settings shared by all tests."""

import os

from hypothesis import settings

# Tests look at searches, not at what earlier ones found.
os.environ["PODRACE_NO_CACHE"] = "1"

# Parallel test runners give their workers a width; what is tested is what a pipe gets, unless a test says otherwise.
os.environ.pop("COLUMNS", None)

# Timings vary too much between machines for deadlines; in CI every run tries the same examples.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
