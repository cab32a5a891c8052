"""Operands that do not do their work on a node."""
