"""The driver's folders, and the one package that a module has of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from podrace.reproduce.modules.driver import driver_files, path_in_module

DRIVER = Path(__file__).parents[3] / "reproduce" / "driver"
MOST = 15
"""How many files a folder has at most."""


def sources() -> list[str]:
    return sorted(path.relative_to(DRIVER).as_posix() for path in DRIVER.rglob("*.go"))


def test_where_a_file_is_in_the_module() -> None:
    assert path_in_module("store/watch.go") == "store_watch.go"
    assert path_in_module("gen/main.go") == "gen/main.go"


def test_every_file_is_in_a_module() -> None:
    all_files = {path_in_module(path) for path in sources()}
    assert driver_files(amid=True).keys() == all_files
    claims, amid = ({path for path in all_files if path.startswith(part)} for part in ("claims_", "amid_"))
    assert claims
    assert amid
    assert driver_files().keys() == all_files - amid
    assert driver_files(claims=False).keys() == all_files - claims - amid


def test_a_file_of_the_module_is_the_one_of_the_driver() -> None:
    assert driver_files()["store_watch.go"] == (DRIVER / "store/watch.go").read_text(encoding="utf-8")


def test_tests_stay_tests_and_every_file_is_of_its_package() -> None:
    files = driver_files()
    assert {"play_replay_test.go", "gen/main.go"} <= files.keys()
    for path, text in files.items():
        package = "main" if path.startswith("gen/") else "podrace"
        assert f"\npackage {package}\n" in f"\n{text}", path


def test_no_folder_has_many_files() -> None:
    folders = Counter(path.rpartition("/")[0] for path in sources())
    assert "" not in folders
    assert max(folders.values()) <= MOST, folders.most_common(3)
