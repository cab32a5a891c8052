"""Work that a queueing system or another scheduler holds back."""
