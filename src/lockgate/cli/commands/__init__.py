"""One verb a file: `add_arguments(parser)`, `run(options) -> int`; `main.VERBS` holds a line of help for each."""
