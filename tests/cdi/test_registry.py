from lockgate.cdi.registry import Directory, Unreadable, load
from lockgate.cdi.resolve import resolve
from lockgate.cdi.spec import DeviceNode


def document(kind: str, *names: str, node: str = "/dev/x", env: str = "A=b") -> bytes:
    devices = "".join(f"- {{name: '{name}', containerEdits: {{deviceNodes: [{{path: {node}}}]}}}}\n" for name in names)
    return f"cdiVersion: 0.5.0\nkind: {kind}\ncontainerEdits: {{env: [{env}]}}\ndevices:\n{devices}".encode()


def static(**files: bytes | Unreadable) -> Directory:
    return Directory(path="/etc/cdi", files={name.replace("_", "."): content for name, content in files.items()})


def dynamic(**files: bytes | Unreadable) -> Directory:
    return Directory(path="/var/run/cdi", files={name.replace("_", "."): content for name, content in files.items()})


def test_the_later_directory_goes_before() -> None:
    old, new = document("nvidia.com/gpu", "0", node="/dev/old"), document("nvidia.com/gpu", "0", node="/dev/new")
    registry = load([static(a_yaml=old), dynamic(b_yaml=new)])
    assert resolve(registry, ["nvidia.com/gpu=0"]).edits.device_nodes == (DeviceNode(path="/dev/new"),)
    assert not registry.troubles


def test_two_files_of_one_directory_that_define_a_name_drop_it_everywhere() -> None:
    gpu = document("nvidia.com/gpu", "0")
    registry = load([static(a_yaml=gpu, b_json=gpu), dynamic(c_yaml=document("nvidia.com/gpu", "0", "1"))])
    assert list(registry.devices) == ["nvidia.com/gpu=1"]
    text = 'conflicting device "nvidia.com/gpu=0" (specs "/etc/cdi/b.json", "/etc/cdi/a.yaml")'
    assert registry.troubles == {"/etc/cdi/a.yaml": [text], "/etc/cdi/b.json": [text]}
    assert "two files" in resolve(registry, ["nvidia.com/gpu=0"]).unresolved[0].reason


def test_a_bad_file_does_no_harm_to_a_good_one() -> None:
    registry = load([static(a_yaml=b"nonsense: [", b_yaml=document("nvidia.com/gpu", "0"))])
    assert list(registry.devices) == ["nvidia.com/gpu=0"]
    assert list(registry.troubles) == ["/etc/cdi/a.yaml"]


def test_only_json_and_yaml_count() -> None:
    gpu = document("nvidia.com/gpu", "0")
    assert not load([static(a_yml=gpu, b_txt=gpu, c_yaml_tmp=gpu)]).devices


def test_a_directory_that_cannot_be_listed_hides_the_later_ones() -> None:
    registry = load([Directory(path="/etc/cdi", files=None), dynamic(a_yaml=document("nvidia.com/gpu", "0"))])
    assert not registry.devices


def test_a_file_that_cannot_be_read_is_a_trouble_of_that_file() -> None:
    registry = load([static(a_yaml=Unreadable(reason="permission denied"))])
    assert registry.troubles["/etc/cdi/a.yaml"] == [
        'failed to load CDI Spec failed to read CDI Spec "/etc/cdi/a.yaml": permission denied'
    ]


def test_a_documents_own_edits_come_once_and_first() -> None:
    registry = load([static(a_yaml=document("nvidia.com/gpu", "0", "1"))])
    edits = resolve(registry, ["nvidia.com/gpu=1", "nvidia.com/gpu=0"]).edits
    assert edits.env == ("A=b",)
    assert len(edits.device_nodes) == 2


def test_what_does_not_resolve_says_why_and_what_exists_instead() -> None:
    registry = load([static(a_yaml=document("nvidia.com/gpu", "0", "GPU-a"), management_nvidia_com_gpu=b"")])
    names = ["nvidia.com/gpu=old", "management.nvidia.com/gpu=GPU-a", "0"]
    resolution = resolve(registry, names)
    assert resolution.error == "unresolvable CDI devices nvidia.com/gpu=old, management.nvidia.com/gpu=GPU-a, 0"
    assert [one.instead for one in resolution.unresolved] == [
        ("nvidia.com/gpu=0", "nvidia.com/gpu=GPU-a"), ("nvidia.com/gpu=GPU-a",), (),
    ]  # fmt: skip
    assert "missing vendor" in resolution.unresolved[2].reason


def test_a_kind_whose_file_is_broken_points_at_the_file() -> None:
    registry = load([dynamic(**{"nvidia_com-gpu_yaml": b"{"})])
    (missing,) = resolve(registry, ["nvidia.com/gpu=0"]).unresolved
    assert missing.reason == "no file defines kind nvidia.com/gpu; /var/run/cdi/nvidia.com-gpu.yaml cannot be used"
