"""No secret gets into a bundle: a hundred of twenty kinds, in objects, logs, node files; what is no secret stays."""

import base64
import json
import random
import string
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.collect.redaction import Redactor

WORD = string.ascii_letters + string.digits


def kinds(chance: random.Random) -> dict[str, Callable[[], tuple[str, str]]]:
    """Twenty kinds: each gives a secret and the text that it stands in."""

    def word(length: int, of: str = WORD) -> str:
        return "".join(chance.choices(of, k=length - 3)) + "aZ9"

    def plain(prefix: str, length: int, of: str = WORD) -> Callable[[], tuple[str, str]]:
        def one() -> tuple[str, str]:
            secret = prefix + word(length, of)
            return secret, f"using {secret} now"

        return one

    def named(shape: str, length: int = 14) -> Callable[[], tuple[str, str]]:
        def one() -> tuple[str, str]:
            secret = word(length)
            return secret, shape.format(secret)

        return one

    def pem(what: str) -> Callable[[], tuple[str, str]]:
        def one() -> tuple[str, str]:
            secret = word(64)
            return secret, f"-----BEGIN {what}-----\n{word(64)}\n{secret}\n-----END {what}-----"

        return one

    def basic() -> tuple[str, str]:
        secret = base64.b64encode(f"user:{word(12)}".encode()).decode()
        return secret, f"Authorization: Basic {secret}"

    def aws() -> tuple[str, str]:
        secret = "AKIA" + "".join(chance.choices(string.ascii_uppercase + string.digits, k=16))
        return secret, f"key id {secret}"

    def bootstrap() -> tuple[str, str]:
        lower = string.ascii_lowercase + string.digits
        secret = "".join(chance.choices(lower, k=6)) + "." + "".join(chance.choices(lower, k=16))
        return secret, f"kubeadm join with {secret}"

    def jwt() -> tuple[str, str]:
        secret = f"eyJ{word(20)}.eyJ{word(30)}.{word(40)}"
        return secret, f"token {secret} expired"

    return {
        "jwt": jwt,
        "basic": basic,
        "bearer": named("Authorization: Bearer {}", 30),
        "private key": pem("RSA PRIVATE KEY"),
        "certificate": pem("CERTIFICATE"),
        "url": named("pulling from https://bot:{}@registry.example/v2/"),
        "password": named("password={}"),
        "toml password": named('  password = "{}"'),
        "json token": named('{{"token":"{}"}}'),
        "yaml secret": named("clientSecret: {}"),
        "flag": named("--registry-password {}"),
        "environment": named("AWS_SECRET_ACCESS_KEY={}", 40),
        "aws": aws,
        "github": plain("ghp_", 36),
        "gitlab": plain("glpat-", 20),
        "slack": plain("xoxb-", 30),
        "model hub": plain("nvapi-", 40),
        "bootstrap": bootstrap,
        "account key": named("AccountKey={};EndpointSuffix=core", 44),
        "random": plain("", 44),
    }


def planted(seed: int) -> list[tuple[str, str, str]]:
    """A hundred (kind, secret, text)."""
    chance = random.Random(seed)
    made = kinds(chance)
    return [(name, *make()) for name, make in made.items() for _ in range(5)]


def test_there_are_a_hundred_secrets_of_twenty_kinds() -> None:
    found = planted(1)
    assert (len(found), len({name for name, _, _ in found})) == (100, 20)
    assert all(secret in text for _, secret, text in found)


@pytest.mark.parametrize("seed", range(5))
def test_no_planted_secret_survives_in_a_text(seed: int) -> None:
    for name, secret, text in planted(seed):
        redacted = Redactor().text(f"2026-11-29T22:00:00Z node gpu-a: {text}")
        assert secret not in redacted, (name, text)
        assert redacted.startswith("2026-11-29T22:00:00Z node gpu-a:"), name


def test_nor_in_texts_that_lie_in_json_strings() -> None:
    for name, secret, text in planted(11):
        assert secret not in Redactor().text(json.dumps({"log": f"{text}\n{text}"})), (name, text)


def test_values_of_variables_go_but_for_those_that_rules_read() -> None:
    env = [
        {"name": "DB_URL", "value": "anything at all"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_API_KEY", "value": "short"},
        {"name": "EMPTY", "value": ""},
    ]
    assert Redactor().tree({"env": env})["env"] == [
        {"name": "DB_URL", "value": "redacted-1"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"},
        {"name": "NVIDIA_API_KEY", "value": "redacted-2"},
        {"name": "EMPTY"},
    ]


def test_annotations_that_nobody_reads_go() -> None:
    before = {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "nvidia.com/x": "y"}}
    assert Redactor().tree(before) == {"annotations": {"nvidia.com/x": "y"}}


def test_the_same_secret_becomes_the_same_word() -> None:
    redactor = Redactor()
    assert redactor.text("password=hunter2 and password=other1") == "password=redacted-1 and password=redacted-2"
    assert redactor.text("--password hunter2") == "--password redacted-1"


def test_addresses_go_only_when_asked() -> None:
    text = "dial tcp 10.1.2.3:443: refused"
    assert Redactor().text(text) == text
    assert Redactor(addresses=True).text(text) == "dial tcp redacted-1:443: refused"


@pytest.mark.parametrize(
    "text",
    [
        "0/3 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: present}.",
        'no runtime for "nvidia" is configured',
        "unresolvable CDI devices k8s.device-plugin.nvidia.com/gpu=GPU-8f67af8a-b869-5c5a-a981-d53c4730829a",
        "docker.io/lockgate/lockgate@sha256:" + "0123456789abcdef" * 4,
        "containerd://" + "0123456789abcdef" * 4,
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05",
        "exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4",
        '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]',
        "NVRM: Xid (PCI:0000:ca:00): 79, pid=1234, GPU has fallen off the bus.",
        'secrets "regcred" not found',
        "RequestsPerSecondLimitExceededByControllerRevisionHash",
        "nvidia-container-toolkit-daemonset-6668cbf74d-2tzr8",
    ],
)
def test_what_a_diagnosis_needs_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_long_hostile_line_takes_no_time() -> None:
    for piece in ("a-", "A1b", "token", "-----BEGIN A-----", "eyJ.", "x=", "://a:"):
        Redactor().text(piece * 20_000)


def everything_of(bundle: Path) -> str:
    """All text of a bundle."""
    with tarfile.open(bundle) as tar:
        files: list[Any] = [tar.extractfile(member) for member in tar.getmembers()]
        return "\n".join(file.read().decode() for file in files if file is not None)
