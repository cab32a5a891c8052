"""The Container Device Interface as its reference library reads it: documents, rules, resolution, and our own."""
