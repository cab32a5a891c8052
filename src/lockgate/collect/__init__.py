"""Facts in: from a live cluster, from a folder or archive that someone sent, from one file, from pasted text."""
