"""The engine: facts in, a Diagnosis out. Rules say what they need; the engine passes it or says what is not known."""
