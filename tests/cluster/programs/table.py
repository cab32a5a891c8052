"""Which programs the test cluster is made of, and where each comes from: one row a program or release."""

from dataclasses import dataclass

KUBERNETES = "1.37.2"
_STRIPPED = "-s -w"
# Without these the Kubernetes programs call themselves v0.0.0.
_KUBERNETES_VERSION = " ".join(
    f"-X k8s.io/component-base/version.{name}={value}"
    for name, value in {"gitVersion": f"v{KUBERNETES}", "gitMajor": "1", "gitMinor": "37"}.items()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPrograms:
    """Programs built with one `go build` from the packages that the `go.mod` in `module` pins."""

    name: str
    module: str
    packages: tuple[str, ...]
    outputs: tuple[str, ...]
    ldflags: str = _STRIPPED
    tags: str = ""
    cgo: bool = False  # a program that loads a C library at run time, with the machine's own loader
    minutes: float  # of a first build on 2 cores, said to the person who waits


@dataclass(frozen=True, slots=True, kw_only=True)
class DebianPrograms:
    """Packages of a Debian release, downloaded and unpacked beside each other, never installed.

    `suite` "" means the release that this machine runs.
    """

    name: str
    suite: str = ""
    packages: tuple[str, ...]
    outputs: tuple[str, ...]
    version: str = ""  # what the first package's version must start with


@dataclass(frozen=True, slots=True)
class SystemProgram:
    """A program that this machine must have itself; apt-get installs the package where it is absent."""

    command: str
    package: str


GO_PROGRAMS = (
    GoPrograms(
        name="kubernetes",
        module="kubernetes",
        packages=tuple(
            f"k8s.io/kubernetes/cmd/{name}"
            for name in (
                "kube-apiserver",
                "kube-controller-manager",
                "kube-proxy",
                "kube-scheduler",
                "kubectl",
                "kubelet",
            )
        ),
        outputs=(
            "kube-apiserver",
            "kube-controller-manager",
            "kube-proxy",
            "kube-scheduler",
            "kubectl",
            "kubelet",
        ),
        ldflags=f"{_STRIPPED} {_KUBERNETES_VERSION}",
        minutes=6,
    ),
    GoPrograms(
        name="etcd",
        module="kubernetes",
        packages=("go.etcd.io/etcd/server/v3",),
        outputs=("etcd",),
        minutes=0.2,
    ),
    GoPrograms(
        name="containerd-2.4",
        module="containerd-2.4",
        packages=tuple(
            f"github.com/containerd/containerd/v2/cmd/{name}"
            for name in ("containerd", "containerd-shim-runc-v2", "ctr")
        ),
        outputs=("containerd", "containerd-shim-runc-v2", "ctr"),
        ldflags=f"{_STRIPPED} -X github.com/containerd/containerd/v2/version.Version=v2.4.2",
        tags="no_btrfs no_devmapper no_zfs",
        minutes=1.1,
    ),
    GoPrograms(name="helm", module="helm", packages=("helm.sh/helm/v4/cmd/helm",), outputs=("helm",), minutes=1.8),
)

_CONTAINERD_OUTPUTS = ("usr/bin/containerd", "usr/bin/containerd-shim-runc-v2", "usr/bin/ctr")

DEBIAN_PROGRAMS = (
    DebianPrograms(
        name="containerd-1.7", suite="trixie", packages=("containerd",), outputs=_CONTAINERD_OUTPUTS, version="1.7."
    ),
    DebianPrograms(
        name="containerd-2.1", suite="forky", packages=("containerd",), outputs=_CONTAINERD_OUTPUTS, version="2.1."
    ),
    # What the test image is made of: a C library, so that the driver's programs run in it, and a shell.
    DebianPrograms(
        name="test-image",
        packages=("busybox", "libc6", "libgcc-s1"),
        outputs=("bin/busybox", "lib64/ld-linux-x86-64.so.2"),
    ),
    # The other C library that containers have (Alpine's): its loader, and what links a program with it.
    DebianPrograms(
        name="musl",
        packages=("musl", "musl-dev"),
        outputs=("lib/ld-musl-x86_64.so.1", "usr/lib/x86_64-linux-musl/crt1.o"),
    ),
)

SYSTEM_PROGRAMS = (
    SystemProgram("runc", "runc"),
    SystemProgram("ip", "iproute2"),
    SystemProgram("nft", "nftables"),
    SystemProgram("iptables", "iptables"),
    SystemProgram("unshare", "util-linux"),
    SystemProgram("mmdebstrap", "mmdebstrap"),
    SystemProgram("/usr/lib/cni/bridge", "containernetworking-plugins"),
)

# A node's `containerd=` chooses a row here: its folder of programs.
CONTAINERD = {"1.7": "containerd-1.7/usr/bin", "2.1": "containerd-2.1/usr/bin", "2.4": "containerd-2.4"}
