"""The operator: each reconciler watches, asks the pure core what to do, and applies it. It decides nothing itself."""
