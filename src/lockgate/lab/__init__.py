"""Simulated GPUs: boards, a driver that answers NVML and CUDA, the libraries and programs that ask it."""
