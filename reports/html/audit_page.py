"""The page about what a log says: answers, violations with who was on the node when, and reasons."""

from collections.abc import Callable
from datetime import UTC, datetime

from ..audit_report import Answer, AuditReport, Bar, Hit, Timeline, account_lines, gravest_first
from .elements import Markup, el, join, scrolling
from .page import framed

BADGES = {"HIT": "violated", "POSSIBLE": "violated", "EXCLUDED": "holds", "NOT EXCLUDED": "inconclusive"}

STYLE = """
.occupancy { width: 100%; height: auto; max-width: 60rem; display: block; margin: .8rem 0; }
.occupancy text { fill: var(--ink); font: 12px/1.3 system-ui, sans-serif; }
.occupancy .faint { fill: var(--muted); }
.occupancy .bar { fill: var(--p0); stroke: var(--l0); }
.occupancy .bar.over { fill: var(--bad-soft); stroke: var(--bad); }
.occupancy .bar.apart { fill: none; stroke: var(--line); stroke-dasharray: 4 3; }
.occupancy .limit { stroke: var(--open); stroke-width: 2; }
.occupancy .total { fill: none; stroke: var(--l0); stroke-width: 2; }
.verdicts td { white-space: normal; }
.verdicts .badge { white-space: nowrap; }
.occupancy .moment { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 2 3; }
.reasons li { margin: .2rem 0; }
"""

WIDTH, LEFT, ROW, BAR = 900, 230, 26, 18
CURVE = 90
"""How high the curve of what is asked for is."""

MOST_BARS = 40
MOST_HITS = 25


def to_html(report: AuditReport) -> str:
    """One self-contained page; the same report gives the same bytes."""
    words = [answer.verdict for answer in report.answers]
    told = ", ".join(f"{words.count(word)} {word.lower()}" for word in BADGES if word in words)
    lead = (
        f"{len(words)} {'property was' if len(words) == 1 else 'properties were'} asked of the log: {told}."
    )
    return framed(
        "What the audit log says",
        summary=join(
            el("p", lead, class_="lead"), *(el("p", line, class_="meta") for line in account_lines(report))
        ),
        verdicts=_verdicts(report),
        sections=join(*map(_section, gravest_first(report)), _signs(report)),
        style=STYLE,
    )


def _verdicts(report: AuditReport) -> Markup:
    head = (el("th", name, scope="col") for name in ("property", "answer", "what"))
    rows = [
        el(
            "tr",
            el("th", el("a", answer.property, href=f"#{answer.property}"), scope="row"),
            el("td", _badge(answer)),
            el("td", answer.words),
        )
        for answer in gravest_first(report)
    ]
    table = el("table", el("thead", el("tr", *head)), el("tbody", *rows), class_="verdicts")
    return scrolling(table, "Answers")


def _badge(answer: Answer) -> Markup:
    return el("span", answer.headline, class_=f"badge {BADGES[answer.headline]}")


def _section(answer: Answer) -> Markup:
    title = f"{answer.property}-title"
    head = el(
        "header",
        el("h2", answer.property, id=title),
        el("p", _badge(answer), class_="meta"),
        el("p", answer.sentence, class_="sentence"),
    )
    reasons = (
        el("ul", *(el("li", reason) for reason in answer.reasons), class_="reasons")
        if answer.reasons
        else None
    )
    decides = el("p", f"What would decide it: {'; '.join(answer.decides)}.") if answer.decides else None
    rules = join(
        el("h3", "Rules of an audit policy that would tell more"),
        *(el("p", el("code", rule)) for rule in answer.policy),
    )
    more = len(answer.hits) - MOST_HITS
    return el(
        "section",
        head,
        *map(_hit, answer.hits[:MOST_HITS]),
        el("p", f"and {more:,} more: -o json has all") if more > 0 else None,
        reasons,
        decides,
        rules if answer.policy else None,
        id=answer.property,
        class_="finding",
        aria_labelledby=title,
    )


def _hit(hit: Hit) -> Markup:
    by = f" Sent by {hit.by}." if hit.by else ""
    return join(
        el("h3", hit.time),
        el("p", f"{hit.words}.{by}", class_="words"),
        *(el("p", line) for line in hit.explained),
        _run(hit.run) if hit.run else None,
        _drawn(hit.timeline) if hit.timeline else None,
    )


def _run(lines: tuple[str, ...]) -> Markup:
    head, *steps = lines
    items = (el("li", step.partition(". ")[2]) for step in steps)
    return el("details", el("summary", head), el("ol", *items))


def _signs(report: AuditReport) -> Markup | None:
    if not report.signs:
        return None
    return el(
        "section",
        el("h2", "Signs, which decide nothing"),
        el("ul", *(el("li", sign) for sign in report.signs), class_="reasons"),
        class_="finding",
    )


def _drawn(timeline: Timeline) -> Markup:
    """Who was on the node: what was asked for over time, a bar for each pod, and the moment at which there was too much."""
    moment = _seconds(timeline.moment)
    bars = timeline.bars[:MOST_BARS]
    times = [_seconds(t) for bar in bars for t in (bar.came, bar.left) if t is not None]
    near = [t for t in times if abs(t - moment) <= 3600] or [moment]
    margin = max(1.0, (max([*near, moment]) - min([*near, moment])) * 0.15)
    start, end = min([*near, moment]) - margin, max([*near, moment]) + margin

    def place(time: float) -> float:
        return round(LEFT + (min(max(time, start), end) - start) / (end - start) * (WIDTH - LEFT - 10), 1)

    below = ROW + CURVE
    height = below + ROW * (len(bars) + 2)
    label = f"{timeline.node}: {timeline.asked} asked for of {timeline.has} {timeline.resource}"
    pieces = [el("title", label), _label(4, 16, f"{label}, at {timeline.moment}")]
    pieces += _curve(timeline, place, start, end)
    running = 0
    for number, bar in enumerate(bars, 1):
        running += bar.amount if bar.counted else 0
        pieces += _bar(
            bar,
            below + ROW * (number - 1) + 8,
            place,
            start,
            end,
            running > timeline.allocatable and bar.counted,
        )
    x = place(moment)
    pieces.append(el("line", x1=x, x2=x, y1=ROW - 4, y2=height - ROW + 4, class_="moment"))
    pieces.append(_label(min(x + 4, WIDTH - 180), height - 8, "the moment of the violation", "faint"))
    for time, x in ((start, LEFT), (end, WIDTH - 70)):
        if abs(place(time) - place(moment)) > 200:
            pieces.append(_label(x, height - 8, _clock(time), "faint"))
    return el(
        "svg", *pieces, class_="occupancy", viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=label
    )


def _curve(timeline: Timeline, place: Callable[[float], float], start: float, end: float) -> list[Markup]:
    """What the pods asked for together, in steps, and what the node has."""
    spans = [
        (_seconds(bar.came) if bar.came else start, _seconds(bar.left) if bar.left else end, bar.amount)
        for bar in timeline.bars
    ]
    times = sorted({start, end, *(min(max(t, start), end) for span in spans for t in span[:2])})
    totals = [sum(amount for came, left, amount in spans if came <= t < left) for t in times]
    top = max([timeline.allocatable, *totals, 1]) * 1.1

    def height(amount: int) -> float:
        return round(ROW + CURVE - 4 - amount / top * (CURVE - 8), 1)

    path = f"M{place(times[0])} {height(totals[0])}"
    for time, total in zip(times[1:], [*totals[1:-1], totals[-2] if len(totals) > 1 else 0], strict=True):
        path += f"H{place(time)}V{height(total)}"
    limit = height(timeline.allocatable)
    return [
        el("path", d=path, class_="total"),
        el("line", x1=LEFT, x2=WIDTH - 10, y1=limit, y2=limit, class_="limit"),
        _label(4, limit + 4, f"allocatable {timeline.has}", "faint"),
    ]


def _bar(
    bar: Bar, top: int, place: Callable[[float], float], start: float, end: float, over: bool
) -> list[Markup]:
    left = place(_seconds(bar.came) if bar.came else start)
    right = place(_seconds(bar.left) if bar.left else end)
    class_ = "bar over" if over else "bar" if bar.counted else "bar apart"
    return [
        _label(4, top + 14, f"{bar.pod[-30:]} ({bar.asks})"),
        el("rect", x=left, y=top, width=max(2.0, round(right - left, 1)), height=BAR, rx=3, class_=class_),
    ]


def _clock(time: float) -> str:
    try:
        return f"{datetime.fromtimestamp(time, UTC):%H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return ""


def _label(x: float, y: float, text: str, class_: str | None = None) -> Markup:
    return el("text", text, x=x, y=y, class_=class_)


def _seconds(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return 0.0
