"""The pod itself: what it asks for, and how its containers fare."""
