"""`podrace reproduce` with the driver for 1.13.0: `make reproduce-old RACE=72124`."""

import sys

from podrace.cli.main import main
from tests.reproduce.v1_13.module import register

register()
sys.argv[:1] = ["podrace", "reproduce"]
main()
