"""Programs from Debian packages of any release, downloaded by the machine's own apt-get and unpacked, never installed.

apt works on a private set of folders and one private source list, made from the mirror that this machine uses, so
that its own apt configuration stays as it is.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from deploy.cache import kept
from tests.cluster.programs.missing import MissingProgramError
from tests.cluster.programs.table import DebianPrograms

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def ensure(row: DebianPrograms, cache: Path, say: Callable[[str], None]) -> Path:
    """The folder in which the row's packages lie unpacked, fetched first when it is not there."""
    suite = row.suite or machine_suite()

    def make(folder: Path) -> None:
        say(f"fetching {', '.join(row.packages)} of Debian {suite}")
        folder.mkdir()
        merge_usr(folder)
        for package in download(row, suite, cache / "apt"):
            unpack(package, folder)
            package.unlink()
        if missing := [name for name in row.outputs if not (folder / name).exists()]:
            raise RuntimeError(f"the packages of {row.name} hold no {', '.join(missing)}")

    return kept(cache / "-".join(filter(None, (row.name, suite, row.version.rstrip(".")))), make)


def unpack(package: Path, root: Path) -> None:
    """Lay a package's files into `root`, through the links that merge /usr."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as reading:
        command = ["tar", "--extract", "--keep-directory-symlink", "--directory", str(root)]
        subprocess.run(command, stdin=reading.stdout, check=True)
    if reading.returncode != 0:
        raise RuntimeError(f"dpkg-deb could not read {package.name}")


def merge_usr(root: Path) -> None:
    """Lay out /bin, /sbin, /lib and /lib64 as links into /usr, as Debian has them."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


def download(row: DebianPrograms, suite: str, apt: Path) -> list[Path]:
    """Fetch the row's packages into `apt`; raises MissingProgramError when the release no longer serves the version."""
    options = private_options(apt, suite)
    _apt([*options, "update"], apt)
    shutil.rmtree(downloads := apt / "downloads", ignore_errors=True)
    downloads.mkdir()
    _apt([*options, "download", *(f"{name}/{suite}" for name in row.packages)], downloads)
    fetched = sorted(downloads.glob("*.deb"))
    first = next(path for path in fetched if path.name.startswith(f"{row.packages[0]}_"))
    served = first.name.split("_")[1]
    if not served.startswith(row.version):
        raise MissingProgramError(
            f"Debian {suite} now serves {row.packages[0]} {served}, the cluster was written for {row.version}*: "
            "change the row in tests/cluster/programs/table.py"
        )
    return fetched


def private_options(apt: Path, suite: str) -> list[str]:
    """apt-get options that keep its lists and downloads in `apt` and read only the source list written there."""
    for name in ("lists/partial", "cache/archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    source = apt / f"{suite}.sources"
    source.write_text(
        f"Types: deb\nURIs: {machine_mirror()}\nSuites: {suite}\nComponents: main\nSigned-By: {_KEYRING}\n"
    )
    settings = {
        "Dir::Etc::sourcelist": source,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def machine_mirror(sources: Path = Path("/etc/apt")) -> str:
    """The first Debian mirror in this machine's own apt sources, in either of the two formats."""
    texts = [path.read_text() for path in source_files(sources)]
    for text in texts:
        for address in addresses(text):
            if re.search(r"/debian/?$", address):
                return address
    raise MissingProgramError(f"no Debian mirror in {sources}/sources.list*: containerd 1.7 and 2.1 cannot be fetched")


def source_files(sources: Path) -> list[Path]:
    """The source lists below /etc/apt, the main one first."""
    parts = sources / "sources.list.d"
    main = [sources / "sources.list"] if (sources / "sources.list").is_file() else []
    return main + sorted(parts.glob("*.sources")) + sorted(parts.glob("*.list"))


def addresses(text: str) -> Iterable[str]:
    """The mirror addresses of a source list, one-line or deb822."""
    for line in text.splitlines():
        if match := re.match(r"deb\s+(?:\[[^]]*\]\s+)?(\S+)|URIs:\s*(\S+)", line):
            yield match[1] or match[2]


def machine_suite(os_release: Path = Path("/etc/os-release")) -> str:
    """The code name of the Debian that this machine runs, for example "bookworm"."""
    match = re.search(r"^VERSION_CODENAME=\"?(\w+)", os_release.read_text(), re.MULTILINE)
    if match is None:
        raise MissingProgramError(f"{os_release} names no VERSION_CODENAME: a Debian is needed")
    return match[1]


def _apt(arguments: list[str], folder: Path) -> None:
    done = subprocess.run(["apt-get", "--quiet", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"apt-get {arguments[-1]} failed: {done.stderr.strip()}")
