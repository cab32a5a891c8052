"""The door to the API server: a typed client, and the runtime that keeps a reconciler level-based."""
