"""Which open hazards a change may mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.reproduce.changes.functions import touched_by
from podrace.reproduce.changes.mends import mendable
from podrace.reproduce.changes.texts import FileChange
from podrace.scenarios import hazards

QUEUE = "pkg/scheduler/backend/queue/scheduling_queue.go"
BEFORE = (
    "package queue\n\nfunc (p *PriorityQueue) Other() { a() }\n\nfunc (p *PriorityQueue) Mended() { b() }\n"
)
PATCH = f"""what it does

--- a/{QUEUE}
+++ b/{QUEUE}
@@ -5 +5 @@
-func (p *PriorityQueue) Mended() {{ b() }}
+func (p *PriorityQueue) Mended() {{ b(); c() }}
"""


@pytest.mark.parametrize(("changed", "found"), [("b()", ["ghost"]), ("a()", [])])
def test_the_hazards_whose_patch_is_in_the_changed_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, found: list[str]
) -> None:
    shipped = tmp_path / "patches"
    shipped.mkdir()
    (shipped / "look.patch").write_text(PATCH, encoding="utf-8")
    monkeypatch.setattr("podrace.reproduce.patches.FOLDER", shipped)
    monkeypatch.setattr("podrace.reproduce.changes.mends.MENDED_BY", {"ghost": ("look",)})
    file = tmp_path / QUEUE
    file.parent.mkdir(parents=True)
    file.write_text(BEFORE, encoding="utf-8")
    files = [FileChange(QUEUE, BEFORE, BEFORE.replace(changed, "d()"))]
    assert [one.name for one in mendable(hazards(), files, touched_by(files), tmp_path)] == found
    file.write_text("package queue\n", encoding="utf-8")
    assert mendable(hazards(), files, touched_by(files), tmp_path) == []
