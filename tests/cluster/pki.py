"""The cluster's certificates: one authority, real client certificates both ways, and the kubeconfigs that hold them.

Made with the `cryptography` package rather than the openssl program: twenty elliptic-curve certificates take a few
milliseconds in this process, and no text of a configuration language stands between us and the certificate.
"""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Pair:
    """A private key and its certificate, both PEM text."""

    key: str
    certificate: str


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority that signs for one cluster."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        """The authority's own certificate, for those who verify."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, common_name: str, organisations: Iterable[str] = (), hosts: Iterable[str] = ()) -> Pair:
        """Sign a certificate for a user (`common_name`, groups as organisations), or for a server when it has hosts."""
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = _builder(_name(common_name, organisations), self.certificate.subject, key.public_key())
        if names := [_general_name(host) for host in hosts]:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        return Pair(key_pem(key), certificate.public_bytes(serialization.Encoding.PEM).decode())


def make_authority(common_name: str) -> Authority:
    """A new authority with a key of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name, ())
    builder = _builder(name, name, key.public_key()).add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
    return Authority(key, builder.sign(key, hashes.SHA256()))


def load_authority(key: str, certificate: str) -> Authority:
    """An authority from PEM texts that `make_authority` once made."""
    loaded = serialization.load_pem_private_key(key.encode(), None)
    assert isinstance(loaded, ec.EllipticCurvePrivateKey)
    return Authority(loaded, x509.load_pem_x509_certificate(certificate.encode()))


def make_token_key() -> str:
    """The private key that service account tokens are signed with; PEM text."""
    return key_pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))


def key_pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> str:
    """A private key as unencrypted PEM text that Go's programs read."""
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


def kubeconfig(server: str, authority: Authority, pair: Pair) -> str:
    """A kubeconfig (JSON, which is YAML) that logs in with the pair's certificate."""
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in _parts(authority, pair).items()}
    cluster = {"server": server, "certificate-authority-data": encoded["authority"]}
    user = {"client-certificate-data": encoded["certificate"], "client-key-data": encoded["key"]}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "user"}}],
        "current-context": "test",
    }
    return json.dumps(config, indent=2)


def _parts(authority: Authority, pair: Pair) -> dict[str, str]:
    return {"authority": authority.pem, "certificate": pair.certificate, "key": pair.key}


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # a machine whose clock steps back a little still accepts it
        .not_valid_after(now + _LIFETIME)
    )


def _name(common_name: str, organisations: Iterable[str]) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)
