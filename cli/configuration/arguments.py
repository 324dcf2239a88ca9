"""Values that options of several commands have."""

from typing import Literal

Form = Literal["text", "json"]
ComparisonForm = Literal["text", "json", "markdown"]
ReportForm = Literal["text", "json", "html", "junit", "sarif", "github", "markdown", "mermaid"]
GraphKind = Literal["lanes", "cluster", "lasso"]
Time = Literal["any", "scales"] | None
