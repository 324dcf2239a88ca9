"""A transition system as LLVM functions over packed states."""
