"""Manifests as they are read: the files that `-f` names, their documents as values that know their places, and remarks.

libyaml's event parser reads the documents. Events cost a tenth of what PyYAML's own loaders cost, and let every limit be kept
while reading: a tag, a key given twice, a deep nest or an alias that stands for too much is refused where it stands.
A remark says what is left out of an object or only partly understood; equal remarks are one line.
"""

import gzip
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ...base.problems import Problem
from ...base.structs import Data
from ...base.text import one_line
from .manifest_values import Manifest


class Doubt(Data):
    """What is taken otherwise than it may be, so that nothing HOLDS of the kept pods that it is about.

    `of` is an object as Kind/namespace/name: a Pod, or a workload of owed ones, counts if it is kept or waits, anything else counts always. `before`: only
    in releases before this one. `room`: also of any pod that is bound, as it says where others fit. `asking`: only where a pod that is kept or waits asks for
    one of these resources. `scales`: only with scales of time.
    """

    line: str
    of: str
    before: str = ""
    room: bool = False
    asking: frozenset[str] = frozenset()
    scales: bool = False


@dataclass(slots=True)
class Remarks:
    """Remarks, each with the objects that it is about, in the order in which they came up; and which of them are doubts."""

    about: dict[str, list[str]] = field(default_factory=dict)
    doubts: dict[Doubt, None] = field(default_factory=dict)

    def add(self, remark: str, name: str) -> None:
        """Note a remark about an object."""
        self.about.setdefault(remark, []).append(name)

    def doubt(
        self,
        remark: str,
        name: str,
        before: str = "",
        room: bool = False,
        asking: Iterable[str] = (),
        scales: bool = False,
    ) -> None:
        """Note a remark about something without which, or with which, another verdict may come out."""
        self.add(remark, name)
        line = f"{remark} ({name})"
        self.doubts[Doubt(line, name, before, room, frozenset(asking), scales)] = None

    def doubt_before(self, first: str, what: str, name: str) -> None:
        """Note what `counts` in this release and later ones; where it does, nothing is said of it."""
        self.doubts[Doubt(f"{heeded_from(first, what)} ({name})", name, first, True)] = None

    def lines(self) -> Iterator[str]:
        """One line for each remark, with its first objects."""
        for remark, names in self.about.items():
            more = f" and {len(names) - 2} more" if len(names) > 2 else ""
            yield f"{remark} ({', '.join(names[:2])}{more})"


def heeded_from(first: str, what: str) -> str:
    """What is in doubt on a release before the first one that heeds something."""
    return f"{what} from {first} on: a verdict on an older release is not about what that one makes of it"


_ABOUT = re.compile(r" \(([^()]+)\)\Z")


def placed(line: str, sources: Mapping[str, tuple[str, int]]) -> str:
    """A line of remarks with the file and line of each object that it names, where `sources` knows them."""
    named = _ABOUT.search(line)
    if named is None:
        return line
    names, more, rest = named[1].partition(" and ")
    known = [
        f"{name} at {sources[name][0]}:{sources[name][1]}" if name in sources else name
        for name in names.split(", ")
    ]
    return f"{line[: named.start()]} ({', '.join(known)}{more}{rest})"


MAX_DEPTH = 64
"""Kubernetes' own objects need about 20; custom resources may hold schemas."""

_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep: no Kubernetes object is"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_PLAIN = {_TAG + kind for kind in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp")}
_MERGE = _TAG + "merge"
_VALUE = _TAG + "value"
"""What YAML 1.1 makes of a lone `=`, which Kubernetes' readers know as a text: an argument of a container, or an operator in a schema."""
_RESOLVER = yaml.resolver.Resolver()


_NEXT_OBJECT = re.compile(r"^(?:\S.*)?\}[ \t]*\r?\n(?:[ \t]*\r?\n)*(?=\{)", re.MULTILINE)
"""Between two objects of JSON, one after the other as kubectl prints and takes them: where YAML wants to see `---`."""


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}]', re.DOTALL)
_IS_JSON = re.compile(r'\s*\{\s*["}]')
_SAME_LINE = re.compile(r"\}[ \t]*(?=\{)")


_ODD = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)|[\x7f-\x9f\u2028\u2029\ufffe\uffff]"
)
"""In JSON: what a backslash begins, and what YAML wants to see escaped and JSON does not. Half a pair of surrogates has a group of its own."""
_DOCUMENT = re.compile(r"^(?=---)", re.MULTILINE)
"""Before a document, as no line of JSON begins: one of YAML may come after JSON, and in its quotes a backslash may be a backslash."""


def _as_yaml(text: str) -> str:
    """JSON as YAML has it: a pair of surrogates is one character, half a pair the replacement character, as to Go, and no control character, and nothing that breaks lines for YAML alone, stands there unescaped."""
    if not _IS_JSON.match(text):
        return text

    def written(odd: re.Match[str]) -> str:
        high, low, half = odd.groups()
        if high:
            return f"\\U{0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF):08x}"
        if half:
            return "\\ufffd"
        return odd[0] if odd[0].startswith("\\") else f"\\u{ord(odd[0]):04x}"

    parts = _DOCUMENT.split(text)
    return "".join(
        _ODD.sub(written, part) if _IS_JSON.match(part.removeprefix("---")) else part for part in parts
    )


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """A text in pieces, each with the number of lines before it: JSON where an object begins in the line in which the one before ends, and YAML knows no such thing."""
    begin = lines = depth = 0
    if _IS_JSON.match(text) and _SAME_LINE.search(text):
        for token in _TOKEN.finditer(text):
            depth += {"{": 1, "}": -1}.get(token[0], 0)
            if depth == 0 and token[0] == "}" and (between := _SAME_LINE.match(text, token.start())):
                yield lines, text[begin : between.end()]
                lines += text.count("\n", begin, between.end())
                begin = between.end()
    yield lines, text[begin:]


class _Shifted:
    """A parser of a piece whose events say their lines in the whole text."""

    def __init__(self, text: str, lines: int) -> None:
        self._parser, self._lines = _Loader(text), lines
        self.check_event, self.dispose = self._parser.check_event, self._parser.dispose

    def get_event(self) -> Any:
        """The next event."""
        event = self._parser.get_event()
        mark = event.start_mark
        event.start_mark = yaml.Mark(mark.name, mark.index, mark.line + self._lines, mark.column, None, 0)
        return event


def documents(text: str, file: str) -> Iterator[Manifest]:
    """The documents of a text that are not empty. Raises Problem where it is not YAML that podrace reads."""
    for lines, piece in _pieces(_as_yaml(text)):
        yield from _documents(piece, file, lines)


def _form(text: str) -> str:
    """What to call a text that cannot be read: JSON if it begins with an object of JSON."""
    return "JSON" if re.match(r'\s*\{\s*"', text) else "YAML"


def _documents(text: str, file: str, lines: int) -> Iterator[Manifest]:
    """The same of a piece of a text, before which there are so many lines."""
    separated = _NEXT_OBJECT.sub(r"\g<0>--- ", text)
    parser = (_Shifted(separated, lines) if lines else _Loader(separated)) if text else None
    try:
        while parser is not None and parser.check_event():
            if isinstance(parser.get_event(), yaml.DocumentStartEvent):
                top = Manifest(file, "", _node(parser, file))
                if not top.is_null:
                    yield top
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = one_line(error.problem or "it cannot be parsed", 120)
        ends = mark is not None and mark.index >= len(separated.rstrip())
        cut = "; the text ends there: if it is cut off, dump or copy it again" if ends else ""
        raise Problem(
            f"{file}:{lines + (mark.line if mark else 0) + 1}: not a {_form(text)} that podrace reads: {problem}{cut}"
        ) from None
    except yaml.reader.ReaderError:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        line = lines + (text.count("\n", 0, bad.start()) if bad else 0) + 1
        raise Problem(
            f"{file}:{line}: not {_form(text)}: a control character stands there: remove it"
        ) from None
    finally:
        if parser is not None:
            parser.dispose()


def _node(parser: Any, file: str) -> yaml.Node:
    """The next node and everything below it."""
    # Of each collection that is open: its tag, where it began, its members, a mapping's keys and values in turn, and its anchor.
    open_: list[tuple[str, Any, list[yaml.Node], bool, str | None]] = []
    named = _Anchors(file)
    while True:
        event: Any = parser.get_event()
        kind = type(event)
        node: yaml.Node
        if kind is yaml.ScalarEvent:
            tag = event.tag or _tag_of(event.value, bool(event.implicit[0]))
            node = yaml.ScalarNode(tag, event.value, event.start_mark)
            if tag != _MERGE:
                _refuse_tag(node, file)
            named.keep(event.anchor, node)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            mapping = kind is yaml.MappingStartEvent
            tag = event.tag or _TAG + ("map" if mapping else "seq")
            open_.append((tag, event.start_mark, [], mapping, event.anchor))
            if len(open_) > MAX_DEPTH:
                _refuse(event, file, _TOO_DEEP)
            continue
        elif kind is yaml.AliasEvent:
            node = named.of(event, len(open_))
        else:
            tag, mark, members, mapping, anchor = open_.pop()
            node = _mapping(tag, mark, members, file) if mapping else yaml.SequenceNode(tag, members, mark)
            _refuse_tag(node, file)
            named.keep(anchor, node)
        if not open_:
            return node
        open_[-1][2].append(node)


MOST_ALIASED = 1_000_000
"""So many values the aliases of a document may stand for, all told: a few lines could stand for any number."""


class _Anchors:
    """The values of a document that have an anchor, for the aliases that stand for them."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes: dict[str, yaml.Node] = {}
        self._extents: dict[int, tuple[int, int]] = {}
        self._aliased = 0

    def keep(self, anchor: str | None, node: yaml.Node) -> None:
        """Note a value that is complete."""
        if anchor is not None:
            self._nodes[anchor] = node

    def of(self, event: Any, depth: int) -> yaml.Node:
        """The value that an alias stands for, so deep in the document. Refused before that is complete, and where all aliases would be too much."""
        found = self._nodes.get(event.anchor)
        if found is None:
            _refuse(
                event,
                self._file,
                f"the alias *{one_line(event.anchor)} stands for nothing that is written before it: write the value out",
            )
        size, deep = self._extent(found)
        if depth + deep > MAX_DEPTH:
            _refuse(event, self._file, _TOO_DEEP)
        self._aliased += size
        if self._aliased > MOST_ALIASED:
            _refuse(
                event, self._file, f"the aliases stand for more than {MOST_ALIASED} values: write them out"
            )
        return found

    def _extent(self, node: yaml.Node) -> tuple[int, int]:
        """How many values a node is, with what its aliases stand for, and how deep it is nested."""
        if isinstance(node, yaml.ScalarNode):
            return 1, 0
        if id(node) not in self._extents:
            pairs = isinstance(node, yaml.MappingNode)
            inner = [self._extent(v) for v in ((v for _, v in node.value) if pairs else node.value)]
            sizes, depths = zip(*inner, strict=True) if inner else ((), ())
            self._extents[id(node)] = 1 + sum(sizes), 1 + max(depths, default=0)
        return self._extents[id(node)]


def _merged(mark: Any, value: yaml.Node, file: str) -> list[tuple[yaml.Node, yaml.Node]]:
    """The keys and values that a merge key brings in, of several mappings those of the first."""
    some = value.value if isinstance(value, yaml.SequenceNode) else [value]
    found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    for one in some:
        if not isinstance(one, yaml.MappingNode):
            raise Problem(f"{file}:{mark.line + 1}: `<<` brings in a mapping, or a list of mappings")
        for key, inner in one.value:
            found.setdefault(key.value, (key, inner))
    return list(found.values())


def _mapping(tag: str, mark: Any, members: list[yaml.Node], file: str) -> yaml.MappingNode:
    keys, values = members[::2], members[1::2]
    pairs = list(zip(keys, values, strict=True))
    names: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise Problem(f"{file}:{line}: expected a name before the colon, not a mapping or a list")
        if key.value in names:
            raise Problem(
                f"{file}:{line}: `{one_line(key.value)}` was already given in line {names[key.value]}: "
                "remove or rename one of them"
            )
        names[key.value] = line
    if any(key.tag == _MERGE for key in keys):
        brought = [pair for k, v in pairs if k.tag == _MERGE for pair in _merged(k.start_mark, v, file)]
        pairs = [pair for pair in pairs if pair[0].tag != _MERGE]
        pairs += [pair for pair in brought if pair[0].value not in names]
    return yaml.MappingNode(tag, pairs, mark)


@lru_cache(maxsize=1 << 16)
def _tag_of(value: str, plain: bool) -> str:
    tag = str(_RESOLVER.resolve(yaml.ScalarNode, value, (True, False))) if plain else _TAG + "str"
    return tag if tag != _VALUE else _TAG + "str"


def _refuse_tag(node: yaml.Node, file: str) -> None:
    if node.tag not in _PLAIN:
        tag = one_line(node.tag)
        raise Problem(
            f"{file}:{node.start_mark.line + 1}: the tag `{tag}` is not allowed: an object is plain data"
        )


def _refuse(event: Any, file: str, problem: str) -> NoReturn:
    raise Problem(f"{file}:{event.start_mark.line + 1}: {problem}")


MOST_BYTES = 64 << 20
"""A dump of some ten thousand pods; what is larger is no manifest."""

SUFFIXES = (".yaml", ".yml", ".json")


class Source(Data):
    """A file's name as messages show it, and its text. `found`: only its directory was named."""

    file: str
    text: str
    found: bool = False


def read_sources(names: Sequence[str], recursive: bool = False) -> Iterator[Source]:
    """The texts that these names stand for, directories in the order of their files' names.

    Raises Problem for what cannot be read.
    """
    if names.count("-") > 1:
        raise Problem("-f -: the standard input can be read only once: name it once")
    for name in names:
        if name == "-":
            yield Source("<stdin>", _text(sys.stdin.buffer.read(MOST_BYTES + 1), "<stdin>"))
            continue
        for path in _files(name, recursive):
            yield replace(_source(path), found=path != Path(name))


def folders_passed_over(names: Sequence[str]) -> Iterator[str]:
    """The directories in those that are named which have manifests of their own, or directories with such."""
    for name in names:
        path = Path(name)
        try:
            inside = sorted(p for p in path.iterdir() if p.is_dir()) if name != "-" and path.is_dir() else []
            for folder in inside:
                if any(p.suffix in SUFFIXES and p.is_file() for p in folder.rglob("*")):
                    yield one_line(str(folder), 200)
        except (OSError, ValueError):
            continue  # whoever reads it says so


def _files(name: str, recursive: bool) -> list[Path]:
    path = Path(name)
    try:
        if not path.is_dir():
            return [path]
        inside = path.rglob("*") if recursive else path.iterdir()
        found = sorted(p for p in inside if p.suffix in SUFFIXES and p.is_file())
    except (OSError, ValueError) as error:
        raise _unreadable(one_line(name, 200), error) from None
    if not found:
        below = "" if recursive else "; -R looks into the directories below it, too"
        raise Problem(
            f"{one_line(name, 200)}: no file in this directory ends in {', '.join(SUFFIXES)}{below}"
        )
    return found


def _source(path: Path) -> Source:
    file = one_line(str(path), 200)
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise Problem(
            f"{file}: no such file or directory: -f names manifests, a directory of them, or - for the standard input"
        ) from None
    except (OSError, ValueError) as error:
        raise _unreadable(file, error) from None
    return Source(file, _text(data, file))


def _unreadable(file: str, error: Exception) -> Problem:
    reason = getattr(error, "strerror", None) or str(error)
    return Problem(f"{file}: cannot be read: {reason}")


def _unpacked(data: bytes, file: str) -> bytes:
    """What gzip has packed, to the byte from which on it is too large."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
            return packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise Problem(f"{file}: packed by gzip, and damaged or cut off: pack or copy it again") from None


def _text(data: bytes, file: str) -> str:
    """The text, unpacked if it is packed by gzip; a byte order mark of UTF-8 is skipped, every other encoding refused."""
    if data.startswith(b"\x1f\x8b"):
        data = _unpacked(data, file)
    if len(data) > MOST_BYTES:
        raise Problem(f"{file}: larger than {MOST_BYTES >> 20} MiB: dump fewer objects, or name fewer kinds")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Problem(
            f"{file}:1: the text is in UTF-16 or UTF-32: save it in UTF-8 "
            "(in PowerShell: kubectl get ... | Out-File -Encoding utf8)"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Problem(f"{file}:{line}: not a text in UTF-8: save the file in that encoding") from None
