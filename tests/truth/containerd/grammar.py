"""Sets of containerd configuration files as people write them and as they break: the same seed gives the same set."""

from collections.abc import Callable, Iterator
from random import Random

from tests.truth.containerd.edges import edge

ROOT = "/ROOT"
TOP_LEVEL = f"{ROOT}/config.toml"
_NAMES = ("99-nvidia.toml", "50-site.toml", "zz-registry.toml", "10-cni.toml", "9.toml", ".hidden.toml", "A.toml")
_CRI = {1: "cri", 2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime"}
_IMAGES = "io.containerd.cri.v1.images"
_RUNC = "io.containerd.runc.v2"
Files = dict[str, str]


def generate(seed: str) -> Files:
    """One set: absolute path to text; the top-level file is TOP_LEVEL (rarely it is missing)."""
    return _Writer(Random(seed)).files()


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.present: list[str] = [f"{ROOT}/conf.d/*"]
        self.version = self.one((2, 30), (3, 25), (None, 12), (1, 8), (4, 10))

    def one(self, *weighted: tuple[object, int]) -> object:
        values, weights = zip(*weighted, strict=True)
        return self.random.choices(values, weights)[0]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def files(self) -> Files:
        names = self.random.sample(_NAMES, self.random.choices((0, 1, 2, 3), (15, 40, 30, 15))[0])
        self.present = [f"{ROOT}/conf.d/{name}" for name in names] or [f"{ROOT}/conf.d/*"]
        files = {f"{ROOT}/conf.d/{name}": self.drop_in() for name in names}
        if self.chance(8):
            files[f"{ROOT}/extra/nested.toml"] = self.drop_in()
        if self.chance(1):
            files[f"{ROOT}/conf.d/folder.toml/inside.toml"] = self.drop_in()
        if not self.chance(1):
            files[TOP_LEVEL] = self.text(self.version, [self.imports(), *self.body(self.version)])
        return files

    def drop_in(self) -> str:
        version = self.one((self.version, 55), (None, 15), (1, 4), (2, 12), (3, 10), (4, 5), (5, 1), (-1, 1), (0, 1))
        imports = [self.imports()] if self.chance(7) else []
        return self.text(version, [*imports, *self.body(version)])

    def text(self, version: object, parts: list[str]) -> str:
        if not self.chance(3):
            parts = list(_without_repeats(parts))
        head, tables = [p for p in parts if not p.startswith("[")], [p for p in parts if p.startswith("[")]
        number = self.one((f"version = {version}", 200), (f'version = "{version}"', 1), (f"version = {version}.0", 1))
        lines = ["" if version is None else str(number), *head, *tables]
        return self.style("\n".join(line for line in lines if line) + "\n")

    def style(self, text: str) -> str:
        match self.one(("plain", 86), ("crlf", 3), ("bom", 1), ("comments", 4), ("single", 3), ("cut", 1)):
            case "crlf":
                return text.replace("\n", "\r\n")
            case "bom":
                return "\ufeff" + text
            case "comments":
                return "# mine\n" + text.replace("\n", " # why\n")
            case "single":
                return text.replace('"', "'")
            case "cut":
                return text[: self.random.randrange(len(text))]
        return text

    def imports(self) -> str:
        entries = {
            f"{ROOT}/conf.d/*.toml": 50,
            "conf.d/*.toml": 12,
            "./conf.d/*.toml": 4,
            f"{ROOT}/conf.d/[0-9]*.toml": 4,
            f"{ROOT}/*/*.toml": 4,
            self.random.choice(self.present): 8,
            f"{ROOT}/conf.d/9?nvidia.toml": 1,
            f"{ROOT}/conf.d/../conf.d/*.toml": 2,
            f"{ROOT}/missing.toml": 1,
            f"{ROOT}/missing/*.toml": 3,
            f"{ROOT}/extra/nested.toml": 1,
            "extra/*": 6,
            f"{ROOT}/conf.d": 1,
            f"{ROOT}/config.toml": 2,
            f"{ROOT}/conf.d/[*.toml": 1,
            f"{ROOT}/conf.d/\\\\*.toml": 1,
            "": 1,
        }
        chosen = self.random.choices(list(entries), list(entries.values()), k=self.one((1, 80), (2, 15), (3, 5)))
        quoted = ", ".join(f'"{entry}"' for entry in chosen)
        lists = (f"imports = [{quoted}]", 88), (f"imports = [\n  {quoted}, # theirs\n]", 8)
        odd = ("imports = []", 2), (f'imports = "{chosen[0]}"', 1), ("imports = [1]", 1), ("", 8)
        return str(self.one(*lists, *odd))

    def body(self, version: object) -> list[str]:
        makers = _PARTS if self.chance(93) else (*_PARTS, *_BROKEN, *_BROKEN)
        count = self.random.choices((0, 1, 2, 3, 5), (6, 30, 30, 22, 12))[0]
        weights = [weight for weight, _ in makers]
        return [str(maker(self, version)) for _, maker in self.random.choices(makers, weights, k=count)]

    def cri(self, version: object) -> str:
        own = _CRI.get(version if isinstance(version, int) else 1, _CRI[3])
        return str(self.one((own, 85), (_CRI[2], 7), (_CRI[3], 5), (_CRI[1], 3)))

    def images(self, version: object) -> str:
        return _IMAGES if version in (3, 4, 5) and self.chance(85) else self.cri(version)

    def runtime(self, version: object) -> str:
        name = self.one(("nvidia", 40), ("runc", 30), ("nvidia-cdi", 10), ("kata", 12), ("crun", 5), ("a.b", 3))
        table = f'plugins."{self.cri(version)}".containerd.runtimes."{name}"'
        keys = [
            ("runtime_type", self.one((f'"{_RUNC}"', 80), ('"io.containerd.kata.v2"', 12), ('""', 8)), 85),
            ("runtime_root", '"/run/x"', 5),
            ("runtime_path", '"/opt/shim"', 4),
            ("privileged_without_host_devices", self.bool(), 15),
            ("container_annotations", '["cdi.k8s.io/*"]', 10),
            ("pod_annotations", "[]", 5),
            ("base_runtime_spec", '"/etc/containerd/base.json"', 5),
            ("sandbox_mode", '"podsandbox"', 6),
            ("sandboxer", '"shim"', 5),
            ("snapshot", '"devmapper"', 4),
            ("snapshotter", '"nydus"', 6),
            ("cni_max_conf_num", self.integer(), 4),
            ("no_such_key", "1", 4),
        ]
        options = [
            ("BinaryName", self.one(('"/usr/bin/nvidia-container-runtime"', 80), ('""', 20)), 60),
            ("SystemdCgroup", self.bool(), 50),
            ("Root", '"/r"', 5),
            ("ConfigPath", '"/opt/kata.toml"', 8),
            ("IoUid", self.integer(), 4),
            ("When", self.date(), 1),
            ("Nested", "{ a = 1, b.c = [1, 2] }", 2),
        ]
        return self.table(table, keys, ("options", options) if self.chance(75) else None)

    def table(self, name: str, keys: list[tuple[str, object, int]], inner: object = None) -> str:
        lines = [f"  {key} = {value}" for key, value, percent in keys if self.chance(percent)]
        match self.one(("headers", 84), ("dotted", 8), ("inline", 8)):
            case "dotted":
                return "\n".join([f"[{name}]", *lines, *self.inner_lines(inner, "  {0}.{1} = {2}")])
            case "inline":
                inline = ", ".join(self.inner_lines(inner, "{1} = {2}"))
                return "\n".join([f"[{name}]", *lines, *([f"  {inner[0]} = {{ {inline} }}"] if inner else [])])  # type: ignore[index]
        header = [f"[{name}.{inner[0]}]"] if inner else []  # type: ignore[index]
        return "\n".join([f"[{name}]", *lines, *header, *self.inner_lines(inner, "  {1} = {2}")])

    def inner_lines(self, inner: object, form: str) -> list[str]:
        if inner is None:
            return []
        name, keys = inner  # type: ignore[misc]
        return [form.format(name, key, value) for key, value, percent in keys if self.chance(percent)]

    def bool(self) -> str:
        return str(self.one(("true", 60), ("false", 40)))

    def integer(self) -> str:
        return str(
            self.one(("0", 15), ("1", 30), ("16", 20), ("1_000", 10), ("0x10", 8), ("-1", 7), ("+5", 5), ("0b11", 5))
        )

    def duration(self) -> str:
        return str(
            self.one(('"0s"', 20), ('"10s"', 30), ('"1h30m"', 15), ('"100ms"', 20), ('"5"', 3), ("0", 4), ('"x"', 3))
        )

    def date(self) -> str:
        return str(
            self.one(("1979-05-27", 30), ("1979-05-27T07:32:00Z", 30), ("1979-05-27T07:32:00", 20), ("07:32:00", 20))
        )

    def strings(self) -> str:
        return str(
            self.one(
                ('["a"]', 40), ("[]", 20), ('["a", "b"]', 20), ('[\n  "a", # one\n  "b",\n]', 15), ("['a', \"b\"]", 5)
            )
        )


def _without_repeats(parts: list[str]) -> Iterator[str]:
    """The parts that open no table or key which an earlier part has opened."""
    seen: set[str] = set()
    for part in parts:
        opened = {line.split("=")[0].strip() for line in part.splitlines() if not line.startswith(" ")}
        if not opened & seen:
            seen |= opened
            yield part


def _section(w: _Writer, section: str, keys: list[tuple[str, object, int]]) -> str:
    return w.table(f'plugins."{section}"', keys)


def _cri_keys(w: _Writer, version: object) -> str:
    keys = [
        ("enable_cdi", w.bool(), 35),
        ("cdi_spec_dirs", w.one(('["/etc/cdi"]', 60), ("[]", 20), ('["/etc/cdi", "/var/run/cdi"]', 20)), 25),
        ("sandbox_image", '"registry.local/pause:3.9"', 30),
        ("enable_selinux", w.bool(), 10),
        ("max_container_log_line_size", w.integer(), 10),
        ("systemd_cgroup", w.bool(), 5),
        ("stream_server_address", '"0.0.0.0"', 10),
        ("stream_idle_timeout", w.duration(), 6),
        ("enable_tls_streaming", w.bool(), 5),
        ("disable_tcp_service", w.bool(), 5),
        ("max_concurrent_downloads", w.integer(), 10),
        ("image_pull_progress_timeout", w.duration(), 6),
        ("stats_collect_period", w.integer(), 6),
        ("drain_exec_sync_io_timeout", w.duration(), 5),
        ("ignore_deprecation_warnings", w.strings(), 5),
        ("device_ownership_from_security_context", w.bool(), 8),
        ("SANDBOX_IMAGE", '"upper/pause:1"', 2),
        ("Enable_Selinux", "true", 2),
        ("no_such_key", w.strings(), 4),
    ]
    return _section(w, w.cri(version), keys)


def _containerd(w: _Writer, version: object) -> str:
    keys = [
        ("default_runtime_name", w.one(('"nvidia"', 50), ('"runc"', 20), ('"kata"', 20), ('""', 10)), 60),
        ("snapshotter", w.one(('"overlayfs"', 30), ('"nydus"', 50), ('""', 20)), 30),
        ("disable_snapshot_annotations", w.bool(), 15),
        ("discard_unpacked_layers", w.bool(), 15),
        ("ignore_rdt_not_enabled_errors", w.bool(), 10),
        ("no_pivot", w.bool(), 5),
    ]
    return w.table(f'plugins."{w.cri(version)}".containerd', keys)


def _registry(w: _Writer, version: object) -> str:
    where = f'plugins."{w.images(version)}".registry'
    path = w.one(('config_path = "/etc/containerd/certs.d"', 55), ('config_path = ""', 10), ("", 35))
    mirror = f'[{where}.mirrors."docker.io"]\n  endpoint = ["http://mirror.local"]' if w.chance(35) else ""
    config = f'[{where}.configs."registry.local".auth]\n  username = "u"\n  password = "p"' if w.chance(12) else ""
    tls = f'[{where}.configs."registry.local".tls]\n  insecure_skip_verify = true' if w.chance(10) else ""
    headers = f'[{where}.headers]\n  X-A = ["b"]' if w.chance(8) else ""
    return "\n".join(line for line in (f"[{where}]", str(path), mirror, config, tls, headers) if line)


def _cni(w: _Writer, version: object) -> str:
    keys = [
        ("bin_dir", '"/opt/cni/bin"', 55),
        ("bin_dirs", '["/opt/cni/bin", "/usr/lib/cni"]', 20),
        ("conf_dir", '"/etc/cni/other"', 40),
        ("max_conf_num", w.integer(), 15),
        ("ip_pref", '"ipv6"', 8),
        ("use_internal_loopback", w.bool(), 8),
    ]
    return w.table(f'plugins."{w.cri(version)}".cni', keys)


def _images(w: _Writer, version: object) -> str:
    where = f'plugins."{w.one((_IMAGES, 85), (_CRI[2], 15))}"'
    keys = [
        ("snapshotter", '"nydus"', 40),
        ("max_concurrent_downloads", w.integer(), 30),
        ("use_local_image_pull", w.bool(), 15),
        ("disable_snapshot_annotations", w.bool(), 15),
    ]
    pinned = ("pinned_images", [("sandbox", '"registry.local/pause:3.10"', 70), ("base", '"b"', 20)])
    return w.table(where, keys, pinned if w.chance(60) else None)


def _platforms(w: _Writer, version: object) -> str:
    return f'[plugins."{_IMAGES}".runtime_platforms.kata]\n  platform = "linux/amd64"\n  snapshotter = "devmapper"'


def _empty(w: _Writer, version: object) -> str:
    return f'[plugins."{w.cri(version)}"]'


def _legacy(w: _Writer, version: object) -> str:
    kind = w.one(("default_runtime", 60), ("untrusted_workload_runtime", 40))
    return f'[plugins."{w.cri(version)}".containerd.{kind}]\n  runtime_type = "{_RUNC}"\n  runtime_engine = "/x"'


def _streaming(w: _Writer, version: object) -> str:
    return f'[plugins."{w.one((_CRI[2], 80), (_CRI[3], 20))}".x509_key_pair_streaming]\n  tls_cert_file = "/c"'


def _short(w: _Writer, version: object, full: str) -> str:
    return full.rsplit(".", 1)[-1] if version in (None, 1) and w.chance(80) else full


def _plugin(full: str, *keys: tuple[str, str, int]) -> Callable[[_Writer, object], str]:
    def part(w: _Writer, version: object) -> str:
        makers = {"bool": w.bool, "int": w.integer, "duration": w.duration, "strings": w.strings}
        listed = [(key, makers[kind]() if kind in makers else kind, percent) for key, kind, percent in keys]
        return _section(w, _short(w, version, full), listed)

    return part


def _transfer(w: _Writer, version: object) -> str:
    name = f'plugins."{_short(w, version, "io.containerd.transfer.v1.local")}"'
    entry = f'[[{name}.unpack_config]]\n  platform = "linux/amd64"\n  snapshotter = "nydus"'
    return "\n".join([f"[{name}]", f"  max_concurrent_downloads = {w.integer()}", *([entry] * w.random.randrange(3))])


def _unknown_plugin(w: _Writer, version: object) -> str:
    name = w.one(("io.containerd.acme.v1.thing", 60), ("io.containerd.snapshotter.v1.stargz", 40))
    return f'[plugins."{name}"]\n  a = {w.integer()}\n  b = {w.strings()}\n  c.d = {w.bool()}\n  e = {w.date()}'


def _lists(w: _Writer, version: object) -> str:
    names = ("io.containerd.grpc.v1.cri", 30), ("cri", 12), ("io.containerd.internal.v1.opt", 25), (_CRI[3], 8)
    other = ("io.containerd.snapshotter.v1.btrfs", 20), ("opt", 8), ("a.b.c.d", 3), ("io.containerd.x", 2)
    kind = w.one(("disabled_plugins", 75), ("required_plugins", 25))
    chosen = ", ".join(f'"{w.one(*names, *other)}"' for _ in range(w.random.randrange(3)))
    return f"{kind} = [{chosen}]"


def _scalars(w: _Writer, version: object) -> str:
    lines = {
        'root = "/run/data/containerd"': 30,
        'root = ""': 8,
        'state = "/run/other"': 15,
        f"oom_score = {w.integer()}": 25,
        'plugin_dir = "/p"': 8,
        'temp = "/run/tmp"': 8,
        'Root = "/cased"': 3,
        'unknown_key = "x"': 6,
        "title = 1979-05-27": 2,
    }
    return str(w.one(*lines.items()))


def _server(w: _Writer, version: object) -> str:
    name = str(w.one(("grpc", 40), ("ttrpc", 12), ("debug", 25), ("metrics", 15), ("cgroup", 8)))
    keys: dict[str, list[tuple[str, object, int]]] = {
        "grpc": [
            ("address", w.one(('"/run/c.sock"', 80), ('""', 20)), 50),
            ("uid", w.integer(), 20),
            ("gid", w.integer(), 20),
            ("max_recv_message_size", w.integer(), 20),
            ("tcp_address", '"127.0.0.1:1"', 20),
            ("tcp_tls_cert", '"/c"', 15),
        ],
        "ttrpc": [("address", '"/run/t.sock"', 60), ("uid", w.integer(), 30)],
        "debug": [
            ("address", '"/run/d.sock"', 25),
            ("level", w.one(('"debug"', 80), ('""', 20)), 60),
            ("format", '"json"', 20),
            ("uid", w.integer(), 15),
        ],
        "metrics": [("address", '"127.0.0.1:1338"', 60), ("grpc_histogram", w.bool(), 50)],
        "cgroup": [("path", '"/c"', 80)],
    }
    return w.table(name, keys[name])


def _server_v4(w: _Writer, version: object) -> str:
    name = w.one(("grpc", 50), ("debug", 25), ("ttrpc", 15), ("metrics", 10))
    return w.table(
        f'plugins."io.containerd.server.v1.{name}"', [("address", '"/run/x.sock"', 70), ("uid", w.integer(), 30)]
    )


def _timeouts(w: _Writer, version: object) -> str:
    name = w.one(("io.containerd.timeout.shim.load", 60), ("io.containerd.timeout.new", 40))
    value = w.one(('"9s"', 80), ('""', 20))
    return f'[timeouts]\n  "{name}" = {value}'


def _stream(w: _Writer, version: object) -> str:
    name = w.one(("io.containerd.ocicrypt.decoder.v1.tar", 60), ("custom", 40))
    keys = [("accepts", w.strings(), 60), ("returns", '"x"', 60), ("path", '"p"', 60), ("args", w.strings(), 30)]
    return w.table(f'stream_processors."{name}"', keys)


def _proxy(w: _Writer, version: object) -> str:
    keys = [("type", w.one(('"snapshot"', 90), ('"odd"', 3), ('""', 2)), 97), ("address", '"/run/nydus.sock"', 80)]
    exports = ("exports", [("root", '"/var/lib/nydus"', 80)])
    return w.table(f"proxy_plugins.{w.one(('nydus', 60), ('stargz', 40))}", keys, exports if w.chance(25) else None)


def _unquoted(w: _Writer, version: object) -> str:
    return "[plugins.io.containerd.grpc.v1.cri]\n  enable_cdi = true"


def _wrong(w: _Writer, version: object) -> str:
    name = f'plugins."{w.cri(version)}"'
    return str(
        w.one(
            (f'[{name}]\n  enable_cdi = "yes"', 12),
            (f"[{name}]\n  sandbox_image = 3", 12),
            (f'[{name}]\n  cdi_spec_dirs = "/etc/cdi"', 8),
            (f"[{name}]\n  cdi_spec_dirs = [1]", 6),
            (f'[{name}]\n  max_concurrent_downloads = "3"', 8),
            (f"[{name}]\n  containerd = 1", 5),
            (f"[{name}.containerd]\n  runtimes = []", 5),
            (f'[{name}.containerd.runtimes]\n  nvidia = "x"', 5),
            (f"[{name}]\n  registry = 5", 4),
            (f"[{name}.cni]\n  bin_dir = 5", 4),
            ('[plugins]\n  "io.containerd.grpc.v1.cri" = 5', 4),
            ('[grpc]\n  uid = "1"', 6),
            ("root = 5", 6),
            ("oom_score = 1.5", 4),
            ('disabled_plugins = "cri"', 4),
            (f"[{name}]\n  sandbox_image = {w.date()}", 5),
            ('[plugins."io.containerd.gc.v1.scheduler"]\n  pause_threshold = 1', 4),
        )
    )


def _syntax(w: _Writer, version: object) -> str:
    name = f'plugins."{w.cri(version)}"'
    inline = 'containerd.runtimes.nvidia = { runtime_type = "x" }'
    return str(
        w.one(
            (f'[{name}\n  sandbox_image = "x"', 10),
            (f'[{name}]\n  sandbox_image = "a"\n  sandbox_image = "b"', 12),
            (f'[{name}]\n  enable_cdi = true\n[{name}]\n  sandbox_image = "b"', 10),
            (f"[{name}]\n  enable_cdi = true\n[{name.replace(chr(34), chr(39))}]\n  enable_selinux = true", 6),
            (f"[{name}]\n  enable_cdi =", 6),
            (f"[{name}]\n  enable_cdi = True", 6),
            (f"[{name}]\n  = 1", 4),
            (f"[{name}]\n  sandbox_image = pause", 5),
            (f'[{name}]\n  sandbox_image = "open', 5),
            (f'[{name}]\n  cdi_spec_dirs = ["a" "b"]', 5),
            (f'[{name}]\n  cdi_spec_dirs = ["a", 1]', 5),
            (f"[{name}]\n  max_concurrent_downloads = 007", 4),
            (f"[{name}]\n  {inline}\n[{name}.containerd.runtimes.nvidia.options]\n  Root = '/'", 8),
            (f'[{name}]\n  containerd.default_runtime_name = "x"\n[{name}.containerd]\n  snapshotter = "y"', 6),
            (f'[[{name}]]\n  sandbox_image = "a"', 4),
            (f'[{name}.registry.mirrors."docker.io"]\n  endpoint = ["a",]\n', 4),
            (f"[ {name} ]\n  enable_cdi=true", 4),
            (f"[{name}]\n  sandbox_image = \"\"\"\nlong\"\"\"\n  unset_seccomp_profile = '''x'''", 4),
            (f'[{name}]\n  sandbox_image = "tab\\there \\u00e9"', 3),
            (f'[{name}]\n  sandbox_image = "bad \\q"', 3),
            (f"[{name}]\n  enable_cdi = true sandbox_image = 1", 3),
            ("]", 2),
            ("just words", 3),
        )
    )


def _edge(w: _Writer, version: object) -> str:
    return edge(w.random)


_PARTS: tuple[tuple[int, Callable[[_Writer, object], str]], ...] = (
    (26, _Writer.runtime),
    (16, _cri_keys),
    (12, _containerd),
    (14, _registry),
    (6, _cni),
    (5, _images),
    (1, _platforms),
    (3, _empty),
    (2, _legacy),
    (2, _streaming),
    (4, _lists),
    (4, _scalars),
    (6, _server),
    (2, _server_v4),
    (2, _timeouts),
    (2, _stream),
    (1, _proxy),
    (2, _edge),
    (2, _transfer),
    (2, _unknown_plugin),
    (3, _plugin("io.containerd.nri.v1.nri", ("disable", "bool", 80), ("plugin_request_timeout", "duration", 30))),
    (2, _plugin("io.containerd.gc.v1.scheduler", ("pause_threshold", "0.5", 40), ("schedule_delay", "duration", 50))),
    (1, _plugin("io.containerd.internal.v1.opt", ("path", '"/opt/x"', 90))),
    (1, _plugin("io.containerd.internal.v1.restart", ("interval", "duration", 90))),
    (1, _plugin("io.containerd.monitor.v1.cgroups", ("no_prometheus", "bool", 90))),
    (2, _plugin("io.containerd.runtime.v2.task", ("platforms", "strings", 40), ("sched_core", "bool", 70))),
    (1, _plugin("io.containerd.shim.v1.manager", ("env", "strings", 90))),
    (
        2,
        _plugin(
            "io.containerd.snapshotter.v1.overlayfs", ("root_path", '"/run/s"', 60), ("mount_options", "strings", 40)
        ),
    ),
    (1, _plugin("io.containerd.metadata.v1.bolt", ("content_sharing_policy", '"isolated"', 90))),
    (1, _plugin("io.containerd.service.v1.diff-service", ("default", "strings", 90))),
    (
        1,
        _plugin(
            "io.containerd.tracing.processor.v1.otlp", ("endpoint", '"http://c:4318"', 90), ("insecure", "bool", 50)
        ),
    ),
    (1, _plugin("io.containerd.internal.v1.tracing", ("sampling_ratio", "0.5", 80), ("service_name", '"c"', 50))),
)
_BROKEN: tuple[tuple[int, Callable[[_Writer, object], str]], ...] = ((10, _wrong), (12, _syntax), (2, _unquoted))
