"""What only a person can provide."""


class MissingProgramError(Exception):
    """This machine lacks something that the cluster needs; the text says what, one thing a line."""
