"""An effective configuration is shown with each value's place."""

import json

from lockgate.containerd import Release, resolve
from lockgate.containerd.show import as_data

ROOT, DROPIN = "/etc/containerd/config.toml", "/etc/containerd/conf.d/a.toml"


def test_a_value_is_shown_with_its_place_and_what_it_overrode() -> None:
    files = {
        ROOT: 'version = 2\nimports = ["conf.d/*.toml"]\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "a"\n',
        DROPIN: 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "b"\n',
    }
    data = as_data(resolve(files, ROOT, Release.parse("2.1.9")))
    assert data["config"]["plugins"]["io.containerd.cri.v1.images"]["pinned_images"]["sandbox"] == "b"
    assert data["provenance"]['plugins."io.containerd.cri.v1.images".pinned_images.sandbox'] == {
        "file": DROPIN,
        "line": 3,
        "overrode": [
            {"file": ROOT, "line": 4, "value": "a"},
            {"file": "", "line": 0, "value": "registry.k8s.io/pause:3.10"},
        ],
    }
    assert json.loads(json.dumps(data)) == data


def test_an_error_is_shown_with_its_place() -> None:
    assert as_data(resolve({ROOT: "version = 9"}, ROOT, Release.parse("2.1.9"))) == {
        "error": {
            "message": f"failed to load TOML from {ROOT}: "
            "expected containerd config version equal to or less than `3`, got `9`",
            "file": ROOT,
            "line": 1,
            "crash": False,
        }
    }


def test_dates_are_shown_as_text() -> None:
    files = {ROOT: 'version = 2\n[plugins."io.containerd.acme.v1.x"]\nwhen = 1979-05-27T07:32:00Z\n'}
    data = as_data(resolve(files, ROOT, Release.parse("2.1.9")), provenance=False)
    assert data["config"]["plugins"]["io.containerd.acme.v1.x"] == {"when": "1979-05-27T07:32:00+00:00"}
