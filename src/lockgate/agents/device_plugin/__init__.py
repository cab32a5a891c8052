"""NVIDIA's device plugin, `nvidia-device-plugin`: gate 1's source. Decisions (devices, health, allocation, preference)
are pure; `agent` and `endpoint` act.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the agent until it is told to stop; returns the exit status."""
    from lockgate.agents.device_plugin.__main__ import main as run

    return run(argv)
