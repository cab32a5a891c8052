"""A CDI document as the text of a file, the same bytes for the same document."""

import msgspec

from lockgate.cdi.spec import Spec
from lockgate.cdi.version import minimum_version


def with_lowest_version(spec: Spec) -> Spec:
    """The document under the lowest version that it needs, so that old runtimes read it too."""
    return msgspec.structs.replace(spec, cdi_version=minimum_version(spec))


def render_json(spec: Spec) -> bytes:
    """The document as JSON, indented, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(spec), indent=2) + b"\n"


def render_yaml(spec: Spec) -> bytes:
    """The document as YAML, in the order of the specification's fields."""
    import yaml  # late: only who writes YAML pays for it

    data = msgspec.to_builtins(spec)
    text = yaml.dump(data, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False, width=10_000)
    return b"---\n" + text.encode()


def file_name(kind: str, extension: str) -> str:
    """The file name that the specification recommends for a kind: `nvidia.com-gpu.yaml`."""
    return kind.replace("/", "-") + "." + extension
