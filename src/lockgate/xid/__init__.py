"""XIDs: what NVIDIA's driver reports of a GPU that is in trouble, what each code means, and who acts on it."""
