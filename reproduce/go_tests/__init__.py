"""Readable Go tests: a counterexample as upstream would write it down."""
