"""What ends a collection: input that a person can mend."""


class InputError(ValueError):
    """What was given cannot be read; the text is one line that names the place and what was expected there."""


def one_line(error: object) -> str:
    """A library's complaint on one line, and not endless."""
    return " ".join(str(error).split())[:300]
