"""The functions of a Go file, by their tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.analysis.upstream.go_functions import functions_of, results_at

GO = """\
// Package q is made up for this test.
package q

import (
	"fmt"
	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	. "example.com/go-dots"
)

type Queue[T any] struct{ items map[string]interface{} }

var hook = func(n int) int { return n }

/* Pop has a block comment. */
func (q *Queue[T]) Pop(
	n int, opts ...func() error,
) (interface{}, error) {
	// not a token: }
	for i := 0; i < n; i++ {
		if s := fmt.Sprintf("a } %q", '}'); s != `raw
}` {
			return q.items[s], nil
		}
	}
	return nil, nil
}

func less(a, b int) bool { return a < b }

func external(x struct{ y int }) interface{ Z() }
"""

FLAT = [
    "func", "less", "(", "a", ",", "b", "int", ")", "bool", "{", "if", "a", "==", "b", "{", "return", "false", "}", ";",
    "return", "a", "<", "b", "}",
]  # fmt: skip
ENDS = {"false", "b", "}", ")", "bool", "int", "less", "a", "return"}


def tokens(source: str, name: str = "less") -> tuple[str, ...]:
    return functions_of(source)[name].tokens


def test_functions_with_bodies_are_found() -> None:
    found = functions_of(GO)
    assert list(found) == ["type Queue", "var hook", "Queue.Pop", "less"]
    assert " ".join(found["less"].tokens) == "func less ( a , b int ) bool { return a < b }"
    assert found["Queue.Pop"].receiver == ("q", "*", "Queue", "[", "T", "]")


def test_imports_go_by_the_name_that_the_file_uses() -> None:
    assert functions_of(GO)["less"].imports == {
        "fmt": "fmt",
        "v1": "k8s.io/api/core/v1",
        "klog": "k8s.io/klog/v2",
        "go_dots": "example.com/go-dots",
    }


def test_values_of_the_package() -> None:
    source = "package q\n\nvar (\n\tA = T{\n\t\tx: 1,\n\t}\n\tb, c int\n)\n\nconst D = 5 * time.Minute\nvar _ I = &T{}\nvar E E\n"
    found = {name: " ".join(value.tokens) for name, value in functions_of(source).items()}
    assert found == {
        "var A": "A = T { x : 1 }",
        "var b": "b , c int",
        "const D": "D = 5 * time . Minute",
        "var E": "E E",
    }


def test_types_of_the_package_are_known_without_their_names() -> None:
    source = "package q\n\ntype (\n\tA struct{ x int }\n\tB = C\n)\n\ntype F[T any] func(T)\n"
    found = {name: " ".join(declared.body) for name, declared in functions_of(source).items()}
    assert found == {"type A": "struct { x int }", "type B": "= C", "type F": "[ T any ] func ( T )"}


def test_layout_and_comments_do_not_count() -> None:
    other = GO.replace("// not a token: }", "").replace(
        "\n\tn int, opts ...func() error,\n)", "n int, opts ...func() error)"
    )
    other = other.replace("for i := 0; i < n; i++ {", "for i:=0;i<n;i++ { // again\n")
    assert other != GO
    assert functions_of(other) == functions_of(GO)


@pytest.mark.parametrize(
    ("old", "new"),
    [("a < b", "a <= b"), ("a < b", "b < a"), ("a, b int", "a, b int64"), ("bool {", "bool { ; ")],
)
def test_tokens_count(old: str, new: str) -> None:
    changed = GO.replace(old, new)
    assert tokens(changed, "Queue.Pop") == tokens(GO, "Queue.Pop")
    assert tokens(changed) != tokens(GO)


@given(st.data())
def test_any_layout_that_the_language_allows_gives_the_same_tokens(data: st.DataObject) -> None:
    text = ""
    for token in FLAT:
        blanks = [" ", "\t ", " /* x */ "]
        broken = ["\n", " // y\n", "\n\n\t"]
        # A line may end after a token that ends no statement; and for the semicolon itself.
        if token == ";":
            text += data.draw(st.sampled_from([";", ";\n", *broken]))
        else:
            text += token + data.draw(st.sampled_from(blanks if token in ENDS else blanks + broken))
    assert tokens(text) == tokens(" ".join(FLAT))


@given(st.integers(0, len(FLAT) - 1))
def test_every_token_decides(at: int) -> None:
    if FLAT[at] in ("func", "(", ")", "{", "}", "less"):
        return
    changed = functions_of(" ".join([*FLAT[:at], f"{FLAT[at]} extra", *FLAT[at + 1 :]])).get("less")
    assert changed is None or changed.tokens != tokens(" ".join(FLAT))


RETURNS = """\
package a

func (c *C) F(f func(int) error, x int) (a, b int, err error) {
	g := func() *fwk.Status {
		return nil
	}
	for _, x := range xs {
		return 1, 2, nil
	}
}

func G[T any](x T) map[string]T {
	var f func() error
	if _, ok := x.(interface{ X() }); ok {
		return nil
	}
}

func H() (List[T], []int, func(a int) error) { // (no names)
	return a
}

func (P) I() interface{} {
	return func() (bool, error) {
		return true, nil
	}
}

func (c *C[T]) J() (xs []T, m [4]int) {
	return
}

func K() {
	return
}
"""


@pytest.mark.parametrize(
    ("line", "types"),
    [
        (5, ["* fwk . Status"]),
        (8, ["int", "int", "error"]),
        (15, ["map [ string ] T"]),
        (20, ["List [ T ]", "[ ] int", "func ( a int ) error"]),
        (24, ["interface { }"]),
        (25, ["bool", "error"]),
        (30, ["[ ] T", "[ 4 ] int"]),
        (34, []),
        (12, None),
    ],
)
def test_what_a_function_around_a_line_returns(line: int, types: list[str] | None) -> None:
    """Of the innermost one: a function literal may be around it, and a type of functions is none."""
    assert results_at(RETURNS, line) == types
