"""The NVML door: GPUs and MIG devices of this node as frozen values, and the driver's events. Handles stay inside."""
