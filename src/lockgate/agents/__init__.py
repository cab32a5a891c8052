"""What runs on a GPU node, one module a role; each has `main(argv)` and reads NVIDIA's environment names."""
