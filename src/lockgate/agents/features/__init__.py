"""NVIDIA's GPU feature discovery, `gpu-feature-discovery`: labels of the node from what NVML says. `labels` is pure."""


def main(argv: list[str] | None = None) -> int:
    """Run until told to stop, or once with GFD_ONESHOT; returns the exit status."""
    from lockgate.agents.features.__main__ import main as run

    return run(argv)
