"""The command line, `kubectl gpu VERB` and `lockgate VERB`: a verb is one file of `commands/`, imported late."""
