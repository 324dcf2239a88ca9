"""All tables, in the order in which docs/scenarios.md has them."""

from . import objects, placement
from .actors import CONTROLLERS, DESCHEDULER, EXTENDERS, KEEPERS, PLUGINS
from .file import CONFIG, EXPECTATIONS, FILE, QUESTIONS, RACE, RESIDUAL, SCOPE, VERDICTS
from .nodes import NODE_UPDATES, NODES
from .pods import GATES_OF_POD, POD_UPDATES, PODS

TABLES = (
    FILE, NODES, NODE_UPDATES, placement.TAINTS, PODS, placement.PORTS, POD_UPDATES, GATES_OF_POD, placement.TOLERATIONS, placement.NODE_AFFINITY, placement.NODE_SELECTORS,
    placement.NODE_TERMS, placement.SPREAD, placement.POD_AFFINITY, placement.POD_TERMS, placement.SELECTORS, placement.REQUIREMENTS, objects.NAMESPACES, objects.BUDGETS, objects.DEVICES, objects.CLAIMS, objects.WISH, objects.TEMPLATES,
    objects.DEVICE_CLASSES, objects.CSI_DRIVERS, objects.STORAGE_CLASSES, objects.VOLUMES, objects.VOLUME_CLAIMS, objects.GROUPS, CONTROLLERS, DESCHEDULER, PLUGINS, KEEPERS, EXTENDERS,
    CONFIG, SCOPE, EXPECTATIONS, VERDICTS, QUESTIONS, RACE, RESIDUAL,
)  # fmt: skip
