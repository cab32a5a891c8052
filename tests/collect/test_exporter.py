"""What exporters publish, as readings: dcgm-exporter's text of several releases, and any text at all."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.collect.exporter import parse_readings
from lockgate.model.facts import Reading

DCGM_4 = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pci_bus_id="00000000:07:00.0",device="nvidia0",modelName="NVIDIA A100",\
Hostname="n",container="c",namespace="ml",pod="train"} 87
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",device="nvidia1",modelName="NVIDIA A100",Hostname="n"} 0
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",Hostname="n",container="c",namespace="ml",pod="train"} 14029
# TYPE DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-1",Hostname="n",container="c",namespace="ml",pod="train"} 0.912345
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="2",UUID="GPU-3",GPU_I_PROFILE="1g.5gb",GPU_I_ID="7",Hostname="n",\
namespace="ml",pod="notebook"} 0.000000
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1",Hostname="n"} 1410
"""


def test_a_reading_for_each_device_and_pod() -> None:
    assert parse_readings("n", DCGM_4) == (
        Reading(node="n", device="GPU-1", namespace="ml", pod="train", utilisation=0.912345, memory_used_mib=14029),
        Reading(node="n", device="GPU-2", utilisation=0.0),
        Reading(node="n", device="GPU-3/7", profile="1g.5gb", namespace="ml", pod="notebook", utilisation=0.0),
    )


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ('dcgm_gpu_utilization{gpu="0",uuid="GPU-1",pod_name="p",pod_namespace="ml"} 50', ("GPU-1", "ml", "p", 0.5)),
        ('DCGM_FI_DEV_GPU_UTIL{gpu="0",namespace="ml",pod=""} 1', ("0", "", "", 0.01)),
        (
            'DCGM_FI_DEV_GPU_UTIL{UUID="GPU-1",namespace="monitoring",pod="exporter",exported_namespace="ml",'
            'exported_pod="p"} 3',
            ("GPU-1", "ml", "p", 0.03),
        ),
    ],
    ids=["names of release 1", "no pod holds it", "through a Prometheus"],
)
def test_names_and_labels_of_other_exporters(series: str, expected: tuple[str, str, str, float]) -> None:
    (one,) = parse_readings("n", f"{series}\n")
    assert (one.device, one.namespace, one.pod, one.utilisation) == expected


@pytest.mark.parametrize("value", ["NaN", "+Inf"])
def test_what_is_no_number_was_not_measured(value: str) -> None:
    assert parse_readings("n", f'DCGM_FI_DEV_GPU_UTIL{{UUID="GPU-1"}} {value}\n') == ()


def test_other_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Invalid|invalid|value|metric"):
        parse_readings("n", "<html>\n<body>Not Found</body>\n")


@given(st.text() | st.text(alphabet='DCGM_FI_V{}="\\\n 0,#'))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        parse_readings("n", text)
