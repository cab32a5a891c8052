"""What keeps a whole GPU node from working, whoever asks."""
