"""What every room of podrace may use, and what uses none of them: text, problems, files, structs."""
