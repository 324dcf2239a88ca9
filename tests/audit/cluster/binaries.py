"""etcd, kube-apiserver and kube-scheduler of a version, built by the ordinary Go client out of their modules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podrace.reproduce.modules.module import KubernetesVersion, write_module
from podrace.reproduce.modules.toolchain import find_go

ETCD, SERVER, SCHEDULER = (
    "go.etcd.io/etcd/server/v3",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-scheduler",
)

_IMPORTS = '//go:build tools\n\npackage cluster\n\nimport (\n\t_ "{}"\n\t_ "{}"\n\t_ "{}"\n)\n'
_STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
"""Packages that are told their version when upstream builds a release: requests carry it."""


@dataclass(frozen=True)
class Binaries:
    """Programs that can be started."""

    etcd: Path
    server: Path
    scheduler: Path


def build(version: KubernetesVersion, folder: Path) -> Binaries:
    """Build them in a folder, or take those that are there. The first time takes ten minutes on two cores. Raises GoProblem."""
    made = Binaries(folder / "etcd", folder / "kube-apiserver", folder / "kube-scheduler")
    if all(path.is_file() for path in (made.etcd, made.server, made.scheduler)):
        return made
    go, module = find_go(), folder / "module"
    module.mkdir(parents=True, exist_ok=True)
    (module / "tools.go").write_text(_IMPORTS.format(ETCD, SERVER, SCHEDULER), encoding="utf-8")
    write_module(version, go, module)
    stamps = " ".join(f"-X {package}.gitVersion={version}" for package in _STAMPED)
    for package, path in ((ETCD, made.etcd), (SCHEDULER, made.scheduler), (SERVER, made.server)):
        go.run(["build", "-ldflags", f"-s -w {stamps}", "-o", str(path), package], module, timeout=3600)
    return made
