"""What the simulated driver answers, one file an area. A function's name on the wire is its name in NVML or CUDA."""
