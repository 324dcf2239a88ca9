"""The modelling language: typed state, steps, and their translation into a transition system."""

from .component import Component, Model, build, step
from .concrete import Concrete, NotEnabled
from .errors import ModelError
from .expr import (
    Expr,
    Parameter,
    Value,
    Variable,
    all_of,
    any_of,
    as_expr,
    clamp,
    count,
    equal,
    implies,
    largest,
    negate,
    select,
    smallest,
    total,
)
from .fairness import Case, Fairness
from .graph import substitute, topological, variables_of
from .shapes import boolean, enum, fifo, integer, per, record, ref
from .sorts import BOOL, INT, Entity, Sort, Universe
from .system import State, Transition, TransitionSystem, trace_system
from .tracer import before, constraint, otherwise, require, when
from .views import Record

__all__ = [
    "BOOL",
    "INT",
    "Case",
    "Component",
    "Concrete",
    "Entity",
    "Expr",
    "Fairness",
    "Model",
    "ModelError",
    "NotEnabled",
    "Parameter",
    "Record",
    "Sort",
    "State",
    "Transition",
    "TransitionSystem",
    "Universe",
    "Value",
    "Variable",
    "all_of",
    "any_of",
    "as_expr",
    "before",
    "boolean",
    "build",
    "clamp",
    "constraint",
    "count",
    "enum",
    "equal",
    "fifo",
    "implies",
    "integer",
    "largest",
    "negate",
    "otherwise",
    "per",
    "record",
    "ref",
    "require",
    "select",
    "smallest",
    "step",
    "substitute",
    "topological",
    "total",
    "trace_system",
    "variables_of",
    "when",
]  # fmt: skip
