"""The normal form of a function: two functions that have the same differ in nothing that a race could be made of.

It is the tokens without what a refactoring changes and no other goroutine can see:

- the function's name and the receiver's type; the names of parameters and local variables, which are numbered by first use;
- names of packages: those of the scheduler and of API types go (types move among them), those of plugins and the others are given by path;
- the parameters `ctx` and `logger`, where they are handed on as they came; options that only hand a logger on;
- statements that only log, trace or count, and the variables that are left for nobody then; blocks that are left empty;
- `interface{}` is `any`.

It errs towards difference: what is not known to be harmless stays. A statement that logs stays if one of its arguments calls a
function that is not known to only read; a name stays if it is used before it is declared, so that it may be another's.
"""

import re
from collections.abc import Iterator, Mapping

from .go_functions import Function, is_value
from .go_tokens import CLOSE, KEYWORDS, OPEN, is_name, matching, split

_OURS = re.compile(
    r"k8s\.io/(kubernetes/(plugin/)?(pkg/scheduler|cmd/kube-scheduler)|kube-scheduler|api|dynamic-resource-allocation/api|component-helpers/storage/volume)(/|$)"
)
_PLUGIN = re.compile(r"pkg/scheduler/framework/plugins/")
_LOGS = re.compile(r"(klog|logger|log|glog|trace|utiltrace|metrics|\w*Metrics|klogV\w*|loggerV\w*|logV\w*)$")
_RECORDERS = {"metricsRecorder", "metricRecorder", "metricsAsyncRecorder", "MetricsRecorder"}
_LOGGED_ERRORS = {"HandleError", "HandleErrorWithContext", "HandleErrorWithLogger"}
_LOGGER_OPTIONS = tuple((re.compile(form.replace(" ", "\0")), instead.replace(" ", "\0")) for form, instead in (
    (r"\bAddEventHandlerWithOptions \( ([^()]*) , cache \. HandlerOptions { Logger : & [\w.\0]+ } \)", r"AddEventHandler ( \1 )"),
    (r"\bHandleCrashWithLogger \( [\w.\0]*\)", "HandleCrash ( )"),
    (r"\bLogger : & [\w.\0]+ , ", ""),
))  # fmt: skip
"""Ways to hand a logger on, and what is left without it."""
_READS = frozenset((
    "FromContext", "V", "Enabled", "WithValues", "WithName", "LoggerWithValues", "LoggerWithName", "NewContext",
    "KObj", "KObjs", "KRef", "KObjSlice", "KObjSliceWithLimit", "Format", "Error", "String", "Message", "Reasons", "Code", "Plugin",
    "Name", "GetName", "GetNamespace", "Label", "Node", "Obj", "GetPod", "GetPodFullName", "UnsortedList", "queueingHintToLabel",
    "Sprintf", "Errorf", "Join", "append", "len", "string", "int", "float64",
    "Now", "Since", "Sub", "Seconds", "Milliseconds", "SinceInSeconds", "Field", "NewAsyncRecorder",
))  # fmt: skip
"""Functions and methods that only read or make values."""
_TELLS = frozenset((
    "Info", "InfoS", "Infof", "InfoDepth", "ErrorS", "Warning", "Warningf", "Warningln", "Errorln", "WithLabelValues",
    "Observe", "Inc", "Dec", "Add", "Set", "Step", "Log", "LogIfLong", "ObservePluginDurationAsync",
    "ObserveQueueingHintDurationAsync", "ObserveInFlightEventsAsync", "PodScheduled", "PodUnschedulable", "PodScheduleError",
    *_LOGGED_ERRORS,
))  # fmt: skip
"""What may be called besides by a statement that only logs, on the logger, the metric or the trace itself."""


def normal_form(function: Function, renamed: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The tokens of the normal form; `renamed` gives functions of other names the old ones."""
    if is_value(function.name):
        tokens = _without_empty_interfaces(list(function.body))
    else:
        tokens = _without_empty_interfaces(_anonymous(function))
        tokens = _without_dead_variables(_without_logs(tokens))
        tokens = _without_passed_on(tokens)
    local = _locals(tokens)
    tokens = _with_paths(_without_logger_options(tokens), function.imports, local)
    if renamed:
        tokens = [renamed.get(t, t) if t not in local else t for t in tokens]
    return tuple(_numbered(tokens, local))


def _anonymous(function: Function) -> list[str]:
    """All tokens but the name and the receiver's type."""
    receiver = [t for t in function.receiver[:-1] if t != "["] if len(function.receiver) > 1 else []
    named = receiver[:1] if receiver and is_name(receiver[0]) else []
    star = ["*"] if "*" in function.receiver else []
    return [
        "func",
        "(",
        *named,
        *(["(receiver)"] if named else []),
        *star,
        ")",
        *function.signature,
        "{",
        *function.body,
        "}",
    ]


def _without_empty_interfaces(tokens: list[str]) -> list[str]:
    out: list[str] = []
    for token in tokens:
        out.append(token)
        if out[-3:] == ["interface", "{", "}"]:
            out[-3:] = ["any"]
    return out


# Statements.


def _begins_statement(tokens: list[str], at: int) -> bool:
    return at > 0 and tokens[at - 1] in ("{", ";", ":")


def _end_of_statement(tokens: list[str], at: int) -> int:
    """Where the statement that begins here ends (its semicolon, or the bracket around it); -1 for what is none."""
    in_head = tokens[at] == "if"  # which may have a semicolon of its own
    while at < len(tokens):
        token = tokens[at]
        if token in OPEN:
            in_head = in_head and token != "{"
            at = matching(tokens, at) + 1
            continue
        if token == "}" or (token == ";" and not in_head):
            return at
        if token in CLOSE or token in (",", ":"):
            return -1
        at += 1
    return -1


def _without_logs(tokens: list[str]) -> list[str]:
    """Without statements that only log, trace or count, and without the blocks that are empty then."""
    while True:
        at = next(
            (i for i in range(len(tokens)) if _begins_statement(tokens, i) and _harmless_end(tokens, i)), 0
        )
        if not at:
            return tokens
        tokens = _cut(tokens, at, _harmless_end(tokens, at))


def _cut(tokens: list[str], at: int, end: int) -> list[str]:
    """Without a statement and one of the semicolons beside it."""
    if tokens[end] == ";":
        return tokens[:at] + tokens[end + 1 :]
    return tokens[: at - 1 if tokens[at - 1] == ";" else at] + tokens[end:]


def _harmless_end(tokens: list[str], at: int) -> int:
    """Where the statement that begins here ends if it only logs, traces or counts, or does nothing; else 0."""
    end = _end_of_statement(tokens, at)
    if end < 0:
        return 0
    statement = tokens[at:end]
    if _only_logs(statement) or _does_nothing(statement):
        return end
    return 0


def _only_logs(statement: list[str]) -> bool:
    if statement[:1] == ["defer"]:
        statement = statement[1:]
    if "(" not in statement or not is_name(statement[0]) or statement[-1] != ")":
        return False
    chain, inside = _by_depth(statement)
    if any(t not in ("(", ")", ".") and not is_name(t) for t in chain):
        return False
    if not _only_reads(chain, _TELLS) or not _only_reads(inside):
        return False
    head = statement[: statement.index("(")]
    logs = _LOGS.match(head[0]) is not None and len(head) >= 3
    counts = any(t in _RECORDERS for t in head)
    field = any(t in ("logger", "metrics") for t in head[:-1:2])
    return logs or counts or field or (head[0] == "utilruntime" and head[-1] in _LOGGED_ERRORS)


def _by_depth(tokens: list[str]) -> tuple[list[str], list[str]]:
    """The tokens outside of all brackets with these, and those inside."""
    parts: tuple[list[str], list[str]] = [], []
    depth = 0
    for token in tokens:
        depth -= token in CLOSE
        parts[depth > 0].append(token)
        depth += token in OPEN
    return parts


def _does_nothing(statement: list[str]) -> bool:
    """An empty deferred function, or an empty block under a condition that only reads."""
    if statement == ["defer", "func", "(", ")", "{", "}", "(", ")"]:
        return True
    if statement[:1] != ["if"] or statement[-2:] != ["{", "}"] or "else" in statement:
        return False
    condition = statement[1:-2]
    if ";" in condition:
        first, _, rest = _partition(condition, ";")
        logger = len(first) > 3 and first[1] == ":=" and _LOGS.match(first[2]) is not None
        return logger and _only_reads(first) and _only_reads(rest)
    return _only_reads(condition)


def _partition(tokens: list[str], separator: str) -> tuple[list[str], str, list[str]]:
    at = tokens.index(separator)
    return tokens[:at], separator, tokens[at + 1 :]


def _only_reads(tokens: list[str], also: frozenset[str] = frozenset()) -> bool:
    """Whether every call in it is known to only read, and nothing is received or done besides."""
    if any(t in ("<-", "func", "go", "++", "--") for t in tokens):
        return False
    calls = (tokens[i - 1] for i, t in enumerate(tokens) if t == "(" and i and is_name(tokens[i - 1]))
    return all(name in _READS or name in also for name in calls)


def _without_dead_variables(tokens: list[str]) -> list[str]:
    """Without variables that only logs and counts had read, and without putting a logger into a context."""
    again = True
    while again:
        again = False
        for at in range(1, len(tokens) - 3):
            if (
                not _begins_statement(tokens, at)
                or not is_name(tokens[at])
                or tokens[at + 1] not in (":=", "=")
            ):
                continue
            end = _end_of_statement(tokens, at)
            value = tokens[at + 2 : end] if end > 0 else []
            if not value or not _is_spare(tokens, at, value):
                continue
            tokens, again = _without_logs(_cut(tokens, at, end)), True
            break
    return tokens


def _is_spare(tokens: list[str], at: int, value: list[str]) -> bool:
    name = tokens[at]
    if tokens[at + 1] == "=":
        return name == "ctx" and value[:4] == ["klog", ".", "NewContext", "("]
    makes_logger = value[:2] == ["klog", "."] and value[2:3] in (
        ["FromContext"],
        ["LoggerWithValues"],
        ["LoggerWithName"],
    )
    if makes_logger and name == "logger":
        return True  # where it is handed on, it is dropped as well
    measured = value[:2] in (["time", "."], ["metrics", "."], ["utiltrace", "."]) or value[0] in (
        "klog",
        "logger",
    )
    return measured and _only_reads(value) and tokens.count(name) == 1


# Parameters that are handed on.


def _without_passed_on(tokens: list[str]) -> list[str]:
    """Without the parameters `ctx` and `logger` and without them where they are arguments, unless there are several of the name."""
    types = (["context", ".", "Context"], ["klog", ".", "Logger"])
    assigned = {
        tokens[i] for i in range(1, len(tokens) - 1)
        if is_name(tokens[i]) and (tokens[i + 1] in (":=", "=") or (tokens[i + 1] == "," and _begins_statement(tokens, i)))
    }  # fmt: skip
    several = _appearances(tokens, ["ctx", *types[0]]) > 1
    gone = {"logger", *(() if several else ("ctx",))} - assigned
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        after = at + 1
        if token in gone and out and out[-1] in ("(", ","):
            typed = next((t for t in types if tokens[at + 1 : at + 4] == t), None)
            after += 3 if typed else 0
            follows = tokens[after] if after < len(tokens) else ""
            if follows == ",":
                at = after + 1
                continue
            if follows == ")":
                if out[-1] == ",":
                    out.pop()
                at = after
                continue
        out.append(token)
        at += 1
    return out


def _without_logger_options(tokens: list[str]) -> list[str]:
    """`AddEventHandlerWithOptions(h, cache.HandlerOptions{Logger: &logger})` is `AddEventHandler(h)`, and `HandleCrashWithLogger(logger)` is `HandleCrash()`."""
    text = "\0".join(tokens)
    for with_logger, without in _LOGGER_OPTIONS:
        text = with_logger.sub(without, text)
    return text.split("\0")


def _appearances(tokens: list[str], part: list[str]) -> int:
    return sum(tokens[i : i + len(part)] == part for i in range(len(tokens)))


# Names.


def _locals(tokens: list[str]) -> set[str]:
    """The names that are declared in the function and used for nothing else before."""
    declared: dict[str, int] = {}
    for name, at in _declarations(tokens):
        if name != "_" and is_name(name):
            declared.setdefault(name, at)
    return {name for name, at in declared.items() if not _is_used_before(tokens, name, at)}


def _declarations(tokens: list[str]) -> Iterator[tuple[str, int]]:
    """Every name that is declared, and where."""
    for at, token in enumerate(tokens):
        if token == "func" and tokens[at + 1 : at + 2] == ["("]:
            yield from ((name, at) for name in _signature(tokens, at))
        elif token == ":=":
            yield from _left_of(tokens, at)
        elif token in ("var", "const"):
            place = at + 1
            while is_name(tokens[place]):
                yield tokens[place], at
                if tokens[place + 1] != ",":
                    break
                place += 2


def _signature(tokens: list[str], at: int) -> list[str]:
    """The names of the parameters and results of the function that begins here; at the very beginning, of a receiver, too."""
    names: list[str] = []
    place = at + 1
    for _ in range(3 if at == 0 else 2):
        if place == len(tokens):  # a type of functions
            break
        if tokens[place] == "[":  # type parameters
            place = matching(tokens, place) + 1
        if tokens[place] != "(":
            break
        end = matching(tokens, place)
        names += _parameters(tokens[place + 1 : end])
        place = end + 1
    return names


def _parameters(tokens: list[str]) -> list[str]:
    """The names of parameters or results; none if there are types only."""
    entries = split(tokens, ",")
    if any(_is_named(entry) for entry in entries):
        return [entry[0] for entry in entries if is_name(entry[0])]
    return []


def _is_named(entry: list[str]) -> bool:
    if len(entry) < 2 or not is_name(entry[0]) or entry[1] == ".":
        return False
    return entry[1] != "[" or entry[2] == "]" or entry[2].isdigit()


def _left_of(tokens: list[str], at: int) -> list[tuple[str, int]]:
    """The names that `:=` declares, with their places; `for` and `if` may stand before them."""
    names: list[tuple[str, int]] = []
    place = at - 1
    while place > 0 and is_name(tokens[place]):
        names.append((tokens[place], place))
        if tokens[place - 1] != ",":
            break
        place -= 2
    return names


def _is_used_before(tokens: list[str], name: str, at: int) -> bool:
    """Whether the name stands before its declaration, or in the value that is declared: it may be another's there."""
    if any(t == name and tokens[i - 1] != "." for i, t in enumerate(tokens[:at]) if i):
        return True
    if ":=" not in tokens[at : at + 8]:
        return False
    place = tokens.index(":=", at)
    depth = 0
    for i in range(place + 1, len(tokens)):
        depth += (tokens[i] in OPEN) - (tokens[i] in CLOSE)
        if depth < 0 or (depth == 0 and tokens[i] == ";") or (depth == 1 and tokens[i] == "{"):
            return False
        if tokens[i] == name and tokens[i - 1] != ".":
            return True
    return False


def _is_variable(tokens: list[str], at: int) -> bool:
    """Whether a name is used as a variable here: not as a field, and not as the key of a literal."""
    if tokens[at - 1] == ".":
        return False
    return not (tokens[at + 1 : at + 2] == [":"] and tokens[at - 1] in ("{", ","))


def _with_paths(tokens: list[str], imports: Mapping[str, str], local: set[str]) -> list[str]:
    """With the path of a package for its name, and no package for what is the scheduler's or an API type: every plugin has a `New` and a `Name`."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        qualifies = (
            token in imports
            and token not in local
            and tokens[at + 1 : at + 2] == ["."]
            and tokens[at - 1] != "."
        )
        path = imports[token] if qualifies else ""
        if _OURS.match(path) and not _PLUGIN.search(path):
            at += 2
            continue
        out.append(f'"{path}"' if qualifies else token)
        at += 1
    return out


def _numbered(tokens: list[str], local: set[str]) -> list[str]:
    """With numbers for the names of variables, by first use."""
    numbers: dict[str, str] = {}
    out = []
    for at, token in enumerate(tokens):
        if token in local and token not in KEYWORDS and _is_variable(tokens, at):
            token = numbers.setdefault(token, f"${len(numbers)}")
        out.append(token)
    return out
