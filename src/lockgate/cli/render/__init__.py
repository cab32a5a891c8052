"""Values to text: one module a format."""
