"""The vocabulary: frozen typed values without I/O, read the same by running, explaining and planning."""
