"""Functions as LLVM text, and LLVM text as machine code in this process."""
