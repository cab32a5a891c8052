import pytest

from lockgate.cdi.spec import Device, DeviceNode, Edits, Hook, Mount, Spec
from lockgate.cdi.validate import CrashingSpecError, InvalidSpecError, check_spec
from lockgate.cdi.version import minimum_version

NODE = Edits(device_nodes=(DeviceNode(path="/dev/nvidia0"),))


def spec(*devices: Device, version: str = "0.6.0", kind: str = "nvidia.com/gpu", edits: Edits | None = None) -> Spec:
    devices = devices or (Device(name="a", container_edits=NODE),)
    return Spec(cdi_version=version, kind=kind, devices=devices, container_edits=edits or Edits())


@pytest.mark.parametrize(
    ("document", "trouble"),
    [
        (spec(version="3"), 'invalid version "3"'),
        (spec(version="0.2.0"), "the spec version must be at least v0.3.0"),
        (spec(Device(name="0", container_edits=NODE), version="0.4.0"), "the spec version must be at least v0.5.0"),
        (spec(kind="nvidia"), "invalid vendor. empty name"),
        (spec(kind="9/gpu"), 'invalid vendor. "9", should start with letter'),
        (spec(kind="nvidia.com/gpu-"), 'invalid class. "gpu-", should end with a letter or digit'),
        (spec(Device(name="a")), 'failed add device "a": invalid device, empty device edits'),
        (
            spec(Device(name="a b", container_edits=NODE)),
            'failed add device "a b": invalid character \' \' in device name "a b"',
        ),
        (spec(*[Device(name="a", container_edits=NODE)] * 2), 'invalid spec, multiple device "a"'),
        (Spec(cdi_version="0.6.0", kind="nvidia.com/gpu"), "invalid spec, no devices"),
        (spec(edits=Edits(env=("A",))), 'invalid container edits: invalid environment variable "A"'),
        (spec(edits=Edits(hooks=(Hook(hook_name="x", path="/x"),))), 'invalid hook name "x"'),
        (spec(edits=Edits(mounts=(Mount(host_path="/a"),))), "invalid mount, empty container path"),
        (
            spec(edits=Edits(device_nodes=(DeviceNode(path="/dev/a", permissions="x"),))),
            'device "/dev/a": invalid permissions "x"',
        ),
    ],
)
def test_a_broken_rule_is_told_in_the_librarys_words(document: Spec, trouble: str) -> None:
    with pytest.raises(InvalidSpecError) as raised:
        check_spec(document)
    assert str(raised.value) == trouble


def test_a_good_document_passes() -> None:
    check_spec(spec())
    check_spec(spec(version="v1.1.0"))


def test_a_null_that_crashes_the_runtime_is_told_apart_from_one_that_is_only_invalid() -> None:
    null = Edits(device_nodes=(None,))
    with pytest.raises(CrashingSpecError):
        check_spec(spec(Device(name="a", container_edits=null)))
    with pytest.raises(InvalidSpecError, match=r"invalid \(nil\) device node"):
        check_spec(spec(Device(name="0", container_edits=null)))


def test_the_library_overlooks_a_newer_feature_in_all_but_the_last_device() -> None:
    newer = Device(name="a", container_edits=Edits(device_nodes=(DeviceNode(path="/dev/a", host_path="/x"),)))
    document = spec(newer, Device(name="b", container_edits=NODE), version="0.3.0")
    check_spec(document)
    assert minimum_version(document) == "0.5.0"
