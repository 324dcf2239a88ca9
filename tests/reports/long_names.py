"""The samples with names as clusters have them: a namespace and a name, 60 letters and more."""

from __future__ import annotations

import re

import msgspec

from podrace.reports.document import Finding
from tests.reports.samples import STARVED
from tests.reports.shown import SHOWN

POD_P = "team-payments-production/checkout-frontend-deployment-7d9f8b6c5d-xk2qp"
POD_Q = "team-payments-production/checkout-frontend-deployment-7d9f8b6c5d-mmmmm"
NODE_1 = "ip-10-0-112-37.eu-central-1.compute.internal.platform.example.com"
NODE_2 = "ip-10-0-112-38.eu-central-1.compute.internal.platform.example.com"
NAMES = {"p": POD_P, "q<i>": POD_Q, "q": POD_Q, "n1": NODE_1, "n2": NODE_2}


def renamed(finding: Finding) -> Finding:
    """The finding about the same with long names, in all that is said of it."""
    pattern = "|".join(re.escape(name) for name in NAMES)
    text = re.sub(
        rf"(?<![\w-])({pattern})(?![\w<-])",
        lambda found: NAMES[found[1]],
        msgspec.json.encode(finding).decode(),
    )
    return msgspec.json.decode(text, type=Finding)


LONG = renamed(SHOWN)
LONG_LASSO = renamed(STARVED)
