"""A `go` that builds nothing: it answers what podrace asks of Go, and what it builds is a program that does as a test says.

`FAKE_GO` in the environment of a run says what the real scheduler makes of each case: `same`, `differs N`, `held N`, `not there N`, `crash`, or
`holds`, which shows a state in which nothing is as the model has it. With `decides N`, a plugin of the user's has decided something in a step that cannot be forced. `FAKE_OWN` changes what
it tells of the user's scheduler.
"""

from __future__ import annotations

import stat
import sys
import textwrap
from pathlib import Path
from typing import Any

VERSION = "go1.26.8"

GO = """\
#!{python}
import json, os, sys
from pathlib import Path
arguments = sys.argv[1:]
here = Path({folder!r})
with (here / "asked.txt").open("a") as log:
    log.write(" ".join(arguments) + "\\n")
if arguments[:2] == ["env", "GOVERSION"]:
    print({version!r})
elif arguments[:3] == ["mod", "download", "-json"]:
    version = arguments[3].partition("@")[2]
    if version == "v1.36.99":
        print(json.dumps({{"Error": "k8s.io/kubernetes@v1.36.99: reading https://somewhere/k8s.io/kubernetes/@v/v1.36.99.info: 404 Not Found"}}))
        sys.exit(1)
    if version == "v1.38.0-beta.0":
        print(json.dumps({{"Error": "k8s.io/kubernetes@v1.38.0-beta.0 requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)"}}))
        sys.exit(1)
    if version == "v1.35.0":
        print(json.dumps({{"Error": "dial tcp: lookup somewhere: no such host"}}))
        sys.exit(1)
    (here / "go.sum").write_text("sums of " + version + "\\n")
    print(json.dumps({{"Dir": str(here), "GoMod": str(here / "their.mod")}}))
elif arguments[:3] == ["mod", "edit", "-json"]:
    file = Path(arguments[3])
    module = file.read_text().split()[1] if file.is_file() and {of_own!r} in file.read_text() else None
    print(json.dumps({{"Module": {{"Path": module}}}} if module else {declared}))
elif arguments[:2] == ["list", "-e"]:
    text = Path("go.mod").read_text()
    if "k8s.io/gone v0.36.3" in text:
        print("x.go:1:2: k8s.io/gone@v0.36.3: reading https://somewhere/@v/v0.36.3.zip: 404 Not Found", file=sys.stderr)
        sys.exit(1)
elif arguments[:3] == ["list", "-m", "-versions"]:
    print(arguments[3], "v0.35.4 v0.36.1 v0.36.2-rc.0 v0.36.5")
elif arguments[0] == "run":
    Path("wrappers_gen.go").write_text("package podrace\\n")
elif arguments[:2] == ["test", "-c"]:
    if os.environ.get("FAKE_GO") == "does not compile":
        print("# k8s.io/kubernetes/pkg/scheduler/podrace\\n./world.go:7:2: undefined: scheduler.New", file=sys.stderr)
        sys.exit(1)
    target = Path(arguments[arguments.index("-o") + 1])
    target.write_text(Path(here / "binary.py").read_text())
    target.chmod(0o755)
else:
    sys.exit("unknown: " + " ".join(arguments))
"""

BINARY = """\
#!{python}
import json, os, sys
if "PODRACE_OWN" in os.environ:
    told = {{"problem": "", "plugins": {{"NoNode": ["Filter"], "Spare": []}}, "without": ["ImageLocality"]}}
    open(os.environ["PODRACE_OWN"], "w").write(json.dumps(told | json.loads(os.environ.get("FAKE_OWN", "{{}}"))))
    sys.exit(0)
word, _, number = os.environ.get("FAKE_GO", "same").rpartition(" ")
if not number.isdigit():
    word, number = (word + " " + number).strip(), "0"
at = int(number)
out = open(os.environ["PODRACE_OUTCOMES"], "w")
for line in open(os.environ["PODRACE_CASES"]):
    case = json.loads(line)
    if word == "crash":
        sys.exit("panic: the scheduler has crashed\\n\\ngoroutine 1")
    done = {{"id": case["id"], "verdict": "DONE", "at": None, "why": "", "initial": case["initial"], "start": None, "steps": [],
            "unseen": [], "epilogue": {{"10s": {{"p": "UNSCHEDULABLE"}}, "330s": {{"p": "ACTIVE"}}, "bound": {{"p": 331.0}}}}, "log": None}}
    if word == "not there":
        done |= {{"verdict": "NOT THERE", "at": at, "why": "Cache.FinishBinding is gone"}}
    else:
        for i, step in enumerate(case["steps"], 1):
            if word == "held" and i == at:
                done |= {{"verdict": "CANNOT BE FORCED", "at": at, "why": "the scheduler stands at Queue.Pop>"}}
                break
            seen = {{"points": ["Queue.Pop< p"], "real": dict(step["changes"]), "differs": None}}
            if word == "decides" and i == at:
                seen["decided"] = [{{"plugin": "NoNode", "point": "Filter", "answer": "Unschedulable", "why": "no", "pod": "w", "node": "n1"}}]
                done["steps"].append(seen)
                done |= {{"verdict": "CANNOT BE FORCED", "at": at, "why": "the scheduler stands at Queue.Pop>"}}
                break
            if word == "differs" and i == at:
                variable = next(iter(step["changes"]))
                seen["real"][variable] = None
                seen["differs"] = [{{"variable": variable, "model": step["changes"][variable], "real": None}}]
                done["verdict"] = "DIFFERS"
            done["steps"].append(seen)
        if word == "holds":
            done["steps"][-1]["real"] = {{"queue.sub_queue[p]": "NONE"}}
    out.write(json.dumps(done) + "\\n")
out.close()
"""

OF_OWN = "example.com/own"
"""The module of a user's scheduler."""

DECLARED: dict[str, Any] = {
    "Go": "1.26.0",
    "Godebug": [{"Key": "default", "Value": "go1.26"}],
    "Require": [
        {"Path": "k8s.io/api", "Version": "v0.0.0"},
        {"Path": "k8s.io/gone", "Version": "v0.0.0"},
        {"Path": "example.com/other", "Version": "v1.2.3", "Indirect": True},
    ],
    "Replace": [
        {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
        {"Old": {"Path": "k8s.io/gone"}, "New": {"Path": "./staging/src/k8s.io/gone"}},
        {"Old": {"Path": "example.com/other"}, "New": {"Path": "example.com/fork", "Version": "v1.2.4"}},
    ],
}


def fake_go(folder: Path, version: str = VERSION) -> Path:
    """A folder with such a `go`, to be put on PATH."""
    bin_ = folder / "bin"
    bin_.mkdir(parents=True)
    text = GO.format(
        python=sys.executable, folder=str(bin_), version=version, declared=repr(DECLARED), of_own=OF_OWN
    )
    for name, content in (("go", text), ("binary.py", BINARY.format(python=sys.executable))):
        (bin_ / name).write_text(textwrap.dedent(content), encoding="utf-8")
        (bin_ / name).chmod((bin_ / name).stat().st_mode | stat.S_IXUSR)
    return bin_
