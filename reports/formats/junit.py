"""JUnit XML, as Jenkins' xUnit plugin, GitLab and most CI services read it: a suite per scenario and release, a case per
property.

What is undecided is an error, never a skipped case: dashboards paint skipped cases green. What the scenario
says is not to be looked at, and a violation that a baseline lists, is a skipped case with its reason. There are no times unless
findings have them.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from ..ci_outcome import USUAL, Style, grouped, message, numbered, where_told
from ..document import ABOUT, Finding, about_of
from ..filtered import text_filtered
from ..scheduler_version import in_part

# What XML 1.0 has no way to write (its production `Char`).
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@text_filtered
def to_junit(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """The findings as a JUnit report."""
    root = xml.Element("testsuites", {"name": "podrace", **_figures(findings, style)})
    for (scenario, label), members in grouped(findings).items():
        figures = _figures(members, style)
        suite = xml.SubElement(root, "testsuite", {"name": f"{scenario}, {label}", **figures})
        about = [(ABOUT, line) for line in about_of(members)]
        about += [("scheduler", line) for line in in_part(f.version for f in members)]
        if about:
            properties = xml.SubElement(suite, "properties")
            for name, line in about:
                xml.SubElement(properties, "property", {"name": name, "value": line})
        for finding in members:
            _case(suite, finding, style)
    xml.indent(root)
    return clean(
        xml.tostring(root, encoding="unicode", xml_declaration=False),
        '<?xml version="1.0" encoding="UTF-8"?>',
    )


def _figures(findings: Sequence[Finding], style: Style) -> dict[str, str]:
    outcomes = [style.outcome(finding) for finding in findings]
    figures = {
        "tests": str(len(findings)),
        "failures": str(outcomes.count("failed")),
        "errors": str(outcomes.count("undecided")),
    }
    if skipped := outcomes.count("ignored") + outcomes.count("known"):
        figures["skipped"] = str(skipped)
    times = [finding.seconds for finding in findings if finding.seconds is not None]
    return {**figures, "time": f"{sum(times):.3f}"} if times else figures


def _case(suite: xml.Element, finding: Finding, style: Style) -> None:
    name = {"name": finding.property, "classname": f"{finding.scenario}, {finding.label}"}
    time = {} if finding.seconds is None else {"time": f"{finding.seconds:.3f}"}
    case = xml.SubElement(suite, "testcase", {**name, **time})
    outcome = style.outcome(finding)
    if outcome == "known":
        xml.SubElement(case, "skipped", {"message": "; ".join([message(finding, style), *finding.notes])})
    elif outcome == "ignored":
        xml.SubElement(case, "skipped", {"message": message(finding, style)})
    elif outcome != "passed":
        kind = "failure" if outcome == "failed" else "error"
        verdict = {"type": finding.verdict, "message": message(finding, style)}
        xml.SubElement(case, kind, verdict).text = "\n".join(_details(finding))
    else:
        xml.SubElement(case, "system-out").text = message(finding, style)


def _details(finding: Finding) -> list[str]:
    spot = where_told(finding)
    place = [f"{spot[0]}:{spot[1]}"] if spot else []
    sentence = [finding.sentence] if finding.sentence else []
    return [*place, *sentence, *finding.notes, *numbered(finding)]


def clean(text: str, declaration: str) -> str:
    """XML with its declaration, without what XML cannot write."""
    written = _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return f"{declaration}\n{written}\n"
