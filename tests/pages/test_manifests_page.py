"""The commands of docs/manifests.md work and print what the page says; its example is what the generator prints."""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path

import pytest

from podrace.manifests.inventory import GROUPS
from tests.kubectl_dump import sample
from tests.pages.pages import DOCS, assert_printed, run_commands

PAGE = (DOCS / "manifests.md").read_text(encoding="utf-8")
BLOCK = r"((?: {4}.*\n)+)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page")
    (found / "docs").mkdir()
    shutil.copy(DOCS / "cluster.yaml", found / "docs")
    return found


@pytest.mark.ci
def test_the_commands_print_what_the_page_says(folder: Path) -> None:
    """In the order of the page, as one writes a file that another reads."""
    commands = re.findall(rf"<!-- tested: (\w+), exit code (\d) -->\n\n{BLOCK}", PAGE)
    assert [name for name, _, _ in commands] == ["race", "newer", "kept"]
    for name, code, block in commands:
        said = run_commands(textwrap.dedent(block), folder, int(code))
        printed = re.findall(rf"<!-- printed: {name} -->\n\n{BLOCK}", PAGE)
        assert printed
        for part in printed:
            assert_printed(part, said)


def test_every_kind_is_in_the_table() -> None:
    table = PAGE.split("## What is read\n\n")[1].split("\n\n")[0]
    kinds = {kind for row in table.splitlines()[2:] for kind in row.split("|")[1].strip().split(", ")}
    assert kinds == set(GROUPS)


def test_the_example_is_what_the_generator_prints() -> None:
    assert (DOCS / "cluster.yaml").read_text(encoding="utf-8") == sample()
