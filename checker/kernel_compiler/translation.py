"""Kernels, which are functions in a small part of Python, to LLVM functions.

What a kernel may use: integers, truths, arrays of them, tuples and named tuples of all these; loops with `while` and over
`range`, branches, `break`, `continue`, `return`, `raise` of an error with a fixed message; calls of other kernels, which
are written out where they are called; `len`, `min`, `max` of two numbers, `array[:] = 0`, and what
`intrinsics` adds. Conditions that are known here, such as whether a tuple is empty, leave no code.

Unlike in Python, integers have 64 bits and wrap, no index is checked, none counts from the end, and only
nonnegative numbers are divided. A signed number and an unsigned one never meet: that is refused here.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .body import Body, NameScope
from .expressions import Expressions
from .kinds import Array, Group, KernelVariable, Nothing, Number, Untranslatable, Value, common, literal


class Translation:
    """Writes one function, with everything that it calls."""

    def __init__(self) -> None:
        self.body = Body()
        self.out, self.do = self.body.out, self.body.do
        self.code = Expressions(self.body, self.call)

    def call(self, function: Callable[..., Any], arguments: Sequence[Value]) -> Value:
        """Write the body of a kernel here; gives what it returns."""
        tree = _tree_of(function)
        parameters = [a.arg for a in tree.args.args]
        if len(parameters) != len(arguments):
            raise Untranslatable(
                f"{function.__name__} takes {len(parameters)} arguments, not {len(arguments)}"
            )
        scope = NameScope(function, {}, self.out.new_label("exit"))
        self.body.scopes.append(scope)
        for name, value in zip(parameters, arguments, strict=True):
            self._bind(name, value)
        self._block(tree.body)
        if self.body.alive:
            self._leave(Nothing())
        self.body.begin(scope.exit)
        self.body.alive = scope.result is not None
        self.body.scopes.pop()
        return self._read_back(scope)

    # Statements

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if not self.body.alive:
                return
            method = getattr(self, f"_{type(statement).__name__.lower()}", None)
            try:
                if method is None:
                    raise Untranslatable(f"there is no code for {type(statement).__name__}")
                method(statement)
            except Untranslatable as problem:
                if " line " in str(problem):
                    raise
                raise Untranslatable(
                    f"{self.body.scope.function.__name__}, line {statement.lineno} of it: {problem}"
                ) from None

    def _expr(self, statement: ast.Expr) -> None:
        if not isinstance(statement.value, ast.Constant):
            self.code.value(statement.value)

    def _pass(self, statement: ast.Pass) -> None:
        pass

    def _assign(self, statement: ast.Assign) -> None:
        value = self.code.value(statement.value)
        for target in statement.targets:
            self._set(target, value)

    def _annassign(self, statement: ast.AnnAssign) -> None:
        assert statement.value is not None
        self._set(statement.target, self.code.value(statement.value))

    def _augassign(self, statement: ast.AugAssign) -> None:
        old = self.code.number(statement.target)
        self._set(statement.target, self.do.arithmetic(statement.op, old, self.code.number(statement.value)))

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._bind(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, Group) or len(value.items) != len(target.elts):
                raise Untranslatable("what is assigned to several names is no tuple of as many items")
            for part, item in zip(target.elts, value.items, strict=True):
                self._set(part, item)
        elif isinstance(target, ast.Subscript):
            array = self.code.array(target.value)
            if not isinstance(value, Number):
                raise Untranslatable("only numbers can be put into an array")
            if isinstance(target.slice, ast.Slice):
                self._clear(array, value)
            else:
                self.do.store(array, self.code.index(array, target.slice), value)
        else:
            raise Untranslatable("nothing can be assigned there")

    def _clear(self, array: Array, value: Number) -> None:
        if value.constant != 0:
            raise Untranslatable("only 0 can be assigned to a whole array")
        size = self.out.value(f"mul i64 {array.length}, {array.element.bits // 8}")
        self.out.do(f"call void @llvm.memset.p0.i64(ptr {array.pointer}, i8 0, i64 {size}, i1 false)")

    def _bind(self, name: str, value: Value) -> None:
        names = self.body.scope.names
        known = names.get(name)
        if not isinstance(value, Number):
            if isinstance(known, KernelVariable):
                raise Untranslatable(f"`{name}` was a number")
            names[name] = value
            return
        if not isinstance(known, KernelVariable):
            known = names[name] = self.body.new_variable(value.kind)
        self.body.write(known, value, name)

    def _if(self, statement: ast.If) -> None:
        condition = self.do.as_truth(self.code.number(statement.test))
        if condition.constant is not None:
            self._block(statement.body if condition.constant else statement.orelse)
            return
        yes, no, after = (self.out.new_label(hint) for hint in ("then", "else", "after"))
        self.out.do(f"br i1 {condition.text}, label %{yes}, label %{no}")
        reached = False
        for label, body in ((yes, statement.body), (no, statement.orelse)):
            self.body.begin(label)
            self._block(body)
            if self.body.alive:
                reached = True
                self.body.go(after)
        if reached:
            self.body.begin(after)

    def _while(self, statement: ast.While) -> None:
        head, body, after = (self.out.new_label(hint) for hint in ("head", "body", "after"))
        self.body.go(head)
        self.body.begin(head)
        condition = self.do.as_truth(self.code.number(statement.test))
        endless = condition.constant == 1
        if endless:
            self.body.go(body)
        else:
            self.out.do(f"br i1 {condition.text}, label %{body}, label %{after}")
        self.body.begin(body)
        with self._loop(head, after):
            self._block(statement.body)
        if self.body.alive:
            self.body.go(head)
        if not endless or after in self.body.scope.broken:
            self.body.begin(after)

    def _for(self, statement: ast.For) -> None:
        iterated = statement.iter
        if not (
            isinstance(iterated, ast.Call)
            and isinstance(iterated.func, ast.Name)
            and iterated.func.id == "range"
        ):
            raise Untranslatable("only a range can be iterated over")
        numbers = [self.code.number(a) for a in iterated.args]
        if len(numbers) == 1:
            numbers.insert(0, literal(0))
        first, last = numbers[:2]
        step = numbers[2].constant if len(numbers) == 3 else 1
        kind = common(first.kind, last.kind)
        if step is None or kind is None:
            raise Untranslatable("a range needs a constant step, and ends of one kind")
        counter = self.body.new_variable(kind)
        self.body.write(counter, first, "the counter")
        head, body, rest, after = (self.out.new_label(hint) for hint in ("head", "body", "next", "after"))
        self.body.go(head)
        self.body.begin(head)
        now = self.body.read(counter)
        more = self.do.compare(ast.Lt() if step > 0 else ast.Gt(), now, last)
        self.out.do(f"br i1 {more.text}, label %{body}, label %{after}")
        self.body.begin(body)
        if isinstance(statement.target, ast.Name):
            self.body.scope.names.pop(statement.target.id, None)  # another loop's, perhaps of another kind
        self._set(statement.target, now)
        with self._loop(rest, after):
            self._block(statement.body)
        if self.body.alive:
            self.body.go(rest)
        self.body.begin(rest)
        self.body.write(
            counter, self.do.arithmetic(ast.Add(), self.body.read(counter), literal(step)), "the counter"
        )
        self.body.go(head)
        self.body.begin(after)

    @contextmanager
    def _loop(self, again: str, after: str) -> Iterator[None]:
        self.body.scope.loops.append((again, after))
        yield
        self.body.scope.loops.pop()

    def _break(self, statement: ast.Break) -> None:
        after = self.body.scope.loops[-1][1]
        self.body.scope.broken.add(after)
        self.body.go(after)

    def _continue(self, statement: ast.Continue) -> None:
        self.body.go(self.body.scope.loops[-1][0])

    def _return(self, statement: ast.Return) -> None:
        self._leave(Nothing() if statement.value is None else self.code.value(statement.value))

    def _raise(self, statement: ast.Raise) -> None:
        call = statement.exc
        if not (
            isinstance(call, ast.Call) and len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
        ):
            raise Untranslatable("an error needs one fixed message")
        self.body.messages.append(str(call.args[0].value))
        self.out.do(f"ret i64 {len(self.body.messages)}")
        self.body.alive = False

    def _leave(self, value: Value) -> None:
        """Keep what a call returns, and go to where it ends."""
        scope = self.body.scope
        numbers = list(_numbers_in(value))
        if scope.result is None:
            scope.result = value
            scope.slots = [self.body.new_variable(n.kind) for n in numbers]
        for variable, number in zip(scope.slots, numbers, strict=True):
            self.body.write(variable, number, "what is returned")
        self.body.go(scope.exit)

    def _read_back(self, scope: NameScope) -> Value:
        values = iter([self.body.read(variable) for variable in scope.slots])
        if isinstance(scope.result, Group):
            return Group(tuple(values))
        return next(values, Nothing())


def _numbers_in(value: Value) -> Iterator[Number]:
    if isinstance(value, Number):
        yield value
    elif isinstance(value, Group):
        for item in value.items:
            yield from _numbers_in(item)
    elif isinstance(value, Array):
        raise Untranslatable("a kernel cannot return an array")


def _tree_of(function: Callable[..., Any]) -> ast.FunctionDef:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    return tree
