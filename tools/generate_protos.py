"""The kubelet's messages as Python: `src/lockgate/kubelet/generated/` from the .proto files beside it.

Only messages are generated. The services are two tables of method names in `lockgate.kubelet`, so that no generated
code pins a release of grpcio.
"""

import tempfile
from importlib import resources
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent.parent
PROTOS = ROOT / "src/lockgate/kubelet/protos"
PACKAGE = Path("lockgate/kubelet/generated")

_INIT = '"""Generated from `kubelet/protos` by `tools/generate_protos.py`: do not edit."""\n'


FOLDERS = (f"src/{PACKAGE}",)


def generated() -> dict[str, str]:
    """Path from the root -> content; nothing is written. Raises RuntimeError when protoc refuses a file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        names = _lay_out(source)
        target.mkdir()
        _protoc(source, target, names)
        files = {f"src/{PACKAGE}/{made.name}": made.read_text() for made in sorted((target / PACKAGE).iterdir())}
    return {f"src/{PACKAGE}/__init__.py": _INIT} | files


def _lay_out(source: Path) -> list[str]:
    """Copies of the .proto files under the package's path, since protoc names Python modules by it."""
    (source / PACKAGE).mkdir(parents=True)
    protos = sorted(PROTOS.glob("*.proto"))
    for proto in protos:
        (source / PACKAGE / proto.name).write_text(proto.read_text())
    return [str(PACKAGE / proto.name) for proto in protos]


def _protoc(source: Path, target: Path, names: list[str]) -> None:
    wellknown = resources.files("grpc_tools") / "_proto"
    arguments = [f"--proto_path={source}", f"--proto_path={wellknown}", f"--python_out={target}", f"--pyi_out={target}"]
    if protoc.main(["protoc", *arguments, *names]) != 0:
        raise RuntimeError(f"protoc refused one of {', '.join(names)}: its message is above")
