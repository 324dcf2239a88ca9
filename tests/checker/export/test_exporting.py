"""Scenarios and systems of the user's own, written for SPIN and TLC: what is written where, and complaints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podrace.analysis.request.plan import Selection, plan
from podrace.properties import PROPERTIES, instrument
from tests.cli.find.test_own_systems import COUNTER
from tests.cli.helpers import TINY
from tests.tools.export import to_promela
from tests.tools.export.__main__ import main
from tests.tools.export.exporting import about

Written = tuple[int, str, str]


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str]) -> Callable[..., Written]:
    """Gives the exit code, and what is printed on stdout and on stderr."""

    def ran(*arguments: str) -> Written:
        return main(list(arguments)), *capsys.readouterr()

    return ran


def test_promela_on_stdout(export: Callable[..., Written]) -> None:
    code, out, err = export("53647", "--to", "promela", "--property", "s-err", "--with-fix", "53647")
    assert (code, err) == (0, "")
    assert out.startswith(
        "/*\n * removed-node-blocks-pods, scheduler 1.8.0 + 53647, S-ERR: the part that this property can see.\n"
    )
    assert " *     spin -a -o2 FILE\n" in out
    assert "  :: d_step { !S_ERR -> assert(false) }\n" in out
    assert "api_pod_p_node" in out


def test_tlaplus_on_stdout_has_its_configuration_below(export: Callable[..., Written]) -> None:
    code, out, _err = export("53647", "--to", "tlaplus", "--release", "1.9.0", "--without-fix", "53647")
    assert code == 0
    assert "MODULE removed_node_blocks_pods ---" in out
    assert "\\* This property asks what stays possible, which is no invariant" in out
    assert out.endswith(
        "The configuration, for removed_node_blocks_pods.cfg:\n\nSPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"
    )


def test_a_tla_file_gets_its_name_and_a_configuration(export: Callable[..., Written], tmp_path: Path) -> None:
    target = tmp_path / "Race.tla"
    code, out, _err = export("72124", "--to", "tlaplus", "--write", str(target))
    assert (code, out) == (0, "")
    assert target.read_text().startswith("-------------------- MODULE Race --------------------\n")
    assert (tmp_path / "Race.cfg").read_text().endswith("\nINVARIANT S_NOMVIS\n")


def test_the_whole_system(export: Callable[..., Written], tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    _code, out, _err = export(str(file), "--to", "promela", "--whole")
    (run,) = plan(Selection(names=(str(file),)))
    system = instrument(run.scenario.spec, run.composition.classes, [PROPERTIES["S-CAP"]])
    first = about([run], system, whole=True)
    assert "tiny, scheduler 1.19.0, S-CAP: the whole system." in first
    assert out.partition("*/\n")[2] == to_promela(system, first).partition("*/\n")[2]
    assert len(export(str(file), "--to", "promela")[1]) < len(out)


def test_several_properties_need_a_choice_unless_all_is_written(
    export: Callable[..., Written], tmp_path: Path
) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[S-CAP, S-NOM]"))
    code, out, err = export(str(file), "--to", "promela")
    assert (code, out) == (2, "")
    assert err == "tiny has several properties: add --property with one of S-CAP, S-NOM\n"
    code, out, err = export(str(file), "--to", "promela", "--whole")
    assert code == 0
    assert "!S_CAP -> assert(false)" in out
    assert "!S_NOM -> assert(false)" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nobody", "--to", "promela"], "unknown scenario `nobody`"),
        (["72124", "--to", "promela", "--property", "S-NO"], "unknown property `S-NO`"),
        (["72124", "--to", "tlaplus", "--write", "a-b.tla"], "`a-b.tla` is no name for a TLA+ module"),
        (["72124", "--to", "tlaplus", "--write", "Nat.tla"], "`Nat` means something in TLA+"),
        (["53647", "--to", "promela", "--whole"], "the value 2147483648 does not fit SPIN's 32 bits"),
    ],
)
def test_complaints_are_one_line_and_exit_code_two(
    export: Callable[..., Written], arguments: list[str], line: str
) -> None:
    code, out, err = export(*arguments)
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1


def test_a_system_of_ones_own(
    export: Callable[..., Written], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER)
    counter = "counter.py"
    code, out, _ = export(counter, "--to", "promela", "--property", "small")
    assert code == 0
    assert out.startswith(
        "/*\n * Counter (counter.py): the part that small can see.\n *\n * small: Nobody gets beyond 2.\n"
    )
    several = export(counter, "--to", "tlaplus")
    assert several == (
        2, "", "Counter (counter.py) has several properties: add --property with one of small, tiny, bounded, or --whole\n",
    )  # fmt: skip
    _, whole, _ = export(counter, "--to", "tlaplus", "--whole")
    assert whole.endswith(
        "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\nINVARIANT small\nINVARIANT tiny\nINVARIANT bounded\n"
    )


def test_what_is_ignored_is_not_written(export: Callable[..., Written], tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[S-CAP, S-NOM]") + "ignore: {S-NOM: because}\n")
    code, out, _ = export(str(file), "--to", "promela")
    assert code == 0, "only one property is left, so none has to be named"
    assert "S-NOM: Ignored, not looked at: because." in " ".join(out.split())
