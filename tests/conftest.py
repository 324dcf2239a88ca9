"""Settings shared by all tests."""

import os

from hypothesis import settings

# Timings vary too much between machines for deadlines; in CI every run tries the same examples.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
