"""`podrace export`: what is written where, and complaints."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.other_checkers import about
from podrace.analysis.request.plan import Selection, plan
from podrace.checker.export import to_promela
from podrace.properties import PROPERTIES, instrument
from tests.cli.helpers import TINY, Shell


def test_promela_on_stdout(shell: Shell) -> None:
    ran = shell("export", "53647", "--to", "promela", "--property", "s-err", "--with-fix", "53647")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(
        "/*\n * removed-node-blocks-pods, scheduler 1.8.0 + 53647, S-ERR: the part that this property can see.\n"
    )
    assert " *     spin -a -o2 FILE\n" in ran.out
    assert "  :: d_step { !S_ERR -> assert(false) }\n" in ran.out
    assert "api_pod_p_node" in ran.out


def test_tlaplus_on_stdout_has_its_configuration_below(shell: Shell) -> None:
    ran = shell("export", "53647", "--to", "tlaplus", "--release", "1.9.0", "--without-fix", "53647")
    assert ran.code == 0
    assert "MODULE removed_node_blocks_pods ---" in ran.out
    assert "\\* This property asks what stays possible, which is no invariant" in ran.out
    assert ran.out.endswith(
        "The configuration, for removed_node_blocks_pods.cfg:\n\nSPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"
    )


def test_a_tla_file_gets_its_name_and_a_configuration(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "Race.tla"
    ran = shell("export", "72124", "--to", "tlaplus", "--write", str(target))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"wrote {target}\nwrote {tmp_path / 'Race.cfg'}\n"
    assert target.read_text().startswith("-------------------- MODULE Race --------------------\n")
    assert (tmp_path / "Race.cfg").read_text().endswith("\nINVARIANT S_NOMVIS\n")


def test_the_whole_system(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    ran = shell("export", str(file), "--to", "promela", "--whole")
    (run,) = plan(Selection(names=(str(file),)))
    system = instrument(run.scenario.spec, run.composition.classes, [PROPERTIES["S-CAP"]])
    first = about([run], system, whole=True)
    assert "tiny, scheduler 1.19.0, S-CAP: the whole system." in first
    assert ran.out.partition("*/\n")[2] == to_promela(system, first).partition("*/\n")[2]
    assert len(shell("export", str(file), "--to", "promela").out) < len(ran.out)


def test_several_properties_need_a_choice_unless_all_is_written(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TINY.replace("[S-CAP]", "[S-CAP, S-NOM]"))
    ran = shell("export", str(file), "--to", "promela")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "podrace: tiny has several properties: add --property with one of S-CAP, S-NOM\n"
    ran = shell("export", str(file), "--to", "promela", "--whole")
    assert ran.code == 0
    assert "!S_CAP -> assert(false)" in ran.out
    assert "!S_NOM -> assert(false)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["72124"], "Missing option '--to'"),
        (["72124", "--to", "smv"], "'smv' is not one of"),
        (["--to", "promela"], "Missing argument 'NAME|FILE'"),
        (["nobody", "--to", "promela"], "podrace: unknown scenario `nobody`"),
        (["72124", "--to", "promela", "--property", "S-NO"], "podrace: unknown property `S-NO`"),
        (
            ["72124", "--to", "promela", "--write", "/nowhere/m.pml"],
            "cannot write `/nowhere/m.pml`: No such file",
        ),
        (["72124", "--to", "tlaplus", "--write", "a-b.tla"], "`a-b.tla` is no name for a TLA+ module"),
        (["72124", "--to", "tlaplus", "--write", "Nat.tla"], "`Nat` means something in TLA+"),
        (["53647", "--to", "promela", "--whole"], "the value 2147483648 does not fit SPIN's 32 bits"),
    ],
)
def test_complaints_are_one_line_and_exit_code_two(shell: Shell, arguments: list[str], line: str) -> None:
    ran = shell("export", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert line in ran.err
    assert ran.err.count("\n") == 1
