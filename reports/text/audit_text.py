"""`podrace audit` for people: an answer for each property with its violations or its reasons, the gravest first; signs, what would decide the open ones, and what was read."""

from rich.console import Console
from rich.text import Text

from ...base.text import counted
from ..audit_report import Answer, AuditReport, account_lines, deciding, gravest_first, level_needed
from .findings_text import INDENT, print_headed, print_lines, print_wrapped

STYLES = {"HIT": "bold red", "POSSIBLE": "bold red", "NOT EXCLUDED": "bold yellow", "EXCLUDED": "bold green"}

MOST_HITS = 10
MOST_SIGNS = 10


def print_audit(console: Console, report: AuditReport) -> None:
    """Print the answers."""
    if needed := level_needed(report):
        print_wrapped(console, Text(needed, "bold"))
        console.print()
    for answer in gravest_first(report):
        _print_answer(console, answer)
        console.print()
    if report.signs:
        print_wrapped(console, Text("Signs, which decide nothing:", "bold"))
        print_lines(console, report.signs[:MOST_SIGNS], INDENT)
        if len(report.signs) > MOST_SIGNS:
            print_wrapped(console, f"and {len(report.signs) - MOST_SIGNS:,} more: -o json has all", INDENT)
        console.print()
    if remedies := deciding(report):
        print_wrapped(console, Text("What would decide the open answers:", "bold"))
        for remedy, properties in remedies.items():
            row = Text(remedy).append(f": {', '.join(properties)}", "dim")
            print_wrapped(console, row, 2 * INDENT, f"{INDENT}- ")
        console.print()
    rules = list(dict.fromkeys(rule for answer in report.answers for rule in answer.policy))
    if rules:
        print_wrapped(
            console, Text("Rules of an audit policy that would tell more (podrace audit --policy):", "bold")
        )
        print_lines(console, rules, INDENT)
        console.print()
    print_lines(console, account_lines(report), style="dim")
    words = [answer.headline for answer in report.answers]
    told = ", ".join(f"{words.count(word)} {word}" for word in STYLES if word in words)
    print_wrapped(console, Text(f"{counted(len(words), 'property')}: {told}.", "bold"))


def _print_answer(console: Console, answer: Answer) -> None:
    print_headed(console, answer.property, answer.headline, STYLES[answer.headline])
    print_wrapped(console, Text(answer.sentence, "dim"), INDENT)
    for hit in answer.hits[:MOST_HITS]:
        by = f" (sent by {hit.by})" if hit.by else ""
        print_wrapped(console, f"{hit.time}: {hit.words}{by}", INDENT)
        for line in hit.explained:
            print_wrapped(console, Text(line, "bold"), 2 * INDENT, f"{INDENT}- ")
        for line in hit.run:
            print_wrapped(console, line, 4 * INDENT, 2 * INDENT)
    if len(answer.hits) > MOST_HITS:
        print_wrapped(console, f"and {len(answer.hits) - MOST_HITS:,} more: -o json has all", INDENT)
    for reason in answer.reasons:
        print_wrapped(console, reason, 2 * INDENT, f"{INDENT}- ")
