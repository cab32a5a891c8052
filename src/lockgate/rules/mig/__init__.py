"""MIG: layouts that are not applied, not permitted, or lost."""
