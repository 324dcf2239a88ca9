"""podrace's own files as they are seen and read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from podrace.checker.core import own_files
from podrace.checker.core.own_files import digest, look


def test_files_are_seen_in_order_and_bytecode_is_not(tmp_path: Path) -> None:
    for name in ("b/two.py", "b/__pycache__/two.cpython-311.pyc", "a.py", "b/c/three.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "linked").symlink_to(tmp_path / "b")
    seen = look([str(tmp_path)])
    assert [*seen] == [str(tmp_path / name) for name in ("a.py", "b/c/three.yaml", "b/two.py")]
    assert [file.size for file in seen.values()] == [4, 14, 8]


@pytest.mark.parametrize("size", [0, 1, 70_000])
def test_all_that_a_file_holds_is_read_whatever_its_size_was(tmp_path: Path, size: int) -> None:
    path = tmp_path / "one.py"
    data = bytes(range(256)) * 300
    path.write_bytes(data[:size])
    seen = look([str(tmp_path)])[str(path)]
    assert digest(str(path), seen) == hashlib.sha256(data[:size]).hexdigest()
    path.write_bytes(data)  # between the look and the reading
    own_files.digest.cache_clear()
    assert digest(str(path), seen) == hashlib.sha256(data).hexdigest()


def test_a_file_is_read_again_when_it_is_seen_changed(tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text("ONE = 1\n")
    seen = look([str(tmp_path)])[str(path)]
    first = digest(str(path), seen)
    assert digest(str(path), seen._replace(changed=seen.changed + 1)) == first
    path.write_text("ONE = 2\n")
    assert digest(str(path), seen) == first  # nobody looked
    assert digest(str(path), seen._replace(changed=seen.changed + 2)) != first
