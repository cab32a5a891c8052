"""`gpu_device_usage_<node>.log`: what `nvidia-smi` printed on a node, among the lists of who has devices open."""

import pytest

from lockgate.collect.device_usage import parse_device_usage, usage_of

SMI = """Sat Nov 29 22:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.95.05              Driver Version: 580.95.05      CUDA Version: 13.0     |
+-----------------------------------------------------------------------------------------+"""
FILE = f"""# nvidia-smi output from gpu-a
{SMI}

# lsof /dev/nvidia* from gpu-a
COMMAND    PID USER   FD   TYPE  DEVICE SIZE/OFF NODE NAME
nvidia-sm 4242 root    3u   CHR 195,255      0t0  999 /dev/nvidiactl

# Process details for PIDs 4242
=== Process 4242 ===
# fuser -v /dev/nvidia*
"""


def test_what_nvidia_smi_printed_is_told_apart() -> None:
    assert parse_device_usage(FILE) == {"nvidia-smi": SMI}


@pytest.mark.parametrize("text", ["", "# nvidia-smi output from gpu-a\n\n# lsof\nx\n", "no heads at all\n"])
def test_where_it_printed_nothing_there_is_no_output(text: str) -> None:
    assert parse_device_usage(text) == {}


@pytest.mark.parametrize(
    ("name", "node"),
    [("gpu_device_usage_gpu-a.example.com.log", "gpu-a.example.com"), ("gpu_device_usage_.log", ""), ("x.log", "")],
)
def test_the_name_tells_the_node(name: str, node: str) -> None:
    assert usage_of(name) == node
