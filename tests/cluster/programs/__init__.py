"""The programs of the test cluster: built or unpacked once into the user's cache, then found there in a moment."""

from tests.cluster.programs.build import Programs, ready
from tests.cluster.programs.missing import MissingProgramError

__all__ = ["MissingProgramError", "Programs", "ready"]
