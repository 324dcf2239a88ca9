"""What a scenario file may say: one table of fields for each section. The reader, the writer, the JSON Schema and docs/scenarios.md are made from them."""
