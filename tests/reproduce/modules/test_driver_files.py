"""The driver's folders, and the one package that a module has of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from podrace.reproduce.modules.driver import COMMON, new_driver_files, old_driver_files, path_in_module

DRIVER = Path(__file__).parents[3] / "reproduce" / "driver"
MOST = 15
"""How many files a folder has at most."""


def sources() -> list[str]:
    return sorted(path.relative_to(DRIVER).as_posix() for path in DRIVER.rglob("*.go"))


def test_where_a_file_is_in_the_module() -> None:
    assert path_in_module("store/watch.go") == "store_watch.go"
    assert path_in_module("old/store/client.go") == "store_client.go"
    assert path_in_module("gen/main.go") == "gen/main.go"


def test_every_file_is_in_a_module() -> None:
    new = {path_in_module(path) for path in sources() if not path.startswith("old/")}
    old = {path_in_module(path) for path in sources() if path.startswith("old/")}
    assert new_driver_files().keys() == new
    claims = {path for path in new if path.startswith("claims_")}
    assert claims
    assert new_driver_files(claims=False).keys() == new - claims
    assert old_driver_files().keys() == old | {path_in_module(path) for path in COMMON}


def test_a_file_of_the_module_is_the_one_of_the_driver() -> None:
    assert new_driver_files()["store_watch.go"] == (DRIVER / "store/watch.go").read_text(encoding="utf-8")
    old = (DRIVER / "old/store/client.go").read_text(encoding="utf-8")
    assert old_driver_files()["store_client.go"] == old != new_driver_files()["store_client.go"]


def test_tests_stay_tests_and_every_file_is_of_its_package() -> None:
    for files in (new_driver_files(), old_driver_files()):
        assert {"play_replay_test.go", "gen/main.go"} <= files.keys()
        for path, text in files.items():
            package = "main" if path.startswith("gen/") else "podrace"
            assert f"\npackage {package}\n" in f"\n{text}", path


def test_no_folder_has_many_files() -> None:
    folders = Counter(path.rpartition("/")[0] for path in sources())
    assert "" not in folders
    assert max(folders.values()) <= MOST, folders.most_common(3)
