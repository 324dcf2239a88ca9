"""Settings shared by all tests."""

import os

from tests.profiles import load_profile

# Tests look at searches, not at what earlier ones found.
os.environ["PODRACE_NO_CACHE"] = "1"
os.environ["PODRACE_CLOSING"] = "0"  # tests of what closes a race ask for it

# Parallel test runners give their workers a width; what is tested is what a pipe gets, unless a test says otherwise.
os.environ.pop("COLUMNS", None)

load_profile()
