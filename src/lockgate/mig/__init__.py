"""MIG as NVIDIA defines it: profiles of a board, placements, names. Pure."""
