"""Plain tools with no domain: quantities, text, tables."""
