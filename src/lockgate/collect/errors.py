"""What ends a collection: input that a person can mend."""


class InputError(ValueError):
    """What was given cannot be read; the text is one line that names the place and what was expected there."""
