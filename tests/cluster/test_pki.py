"""Certificates say who someone is, are signed by the cluster's authority, and fit into kubeconfigs."""

import base64
import json

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.cluster import pki


def read(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def test_a_user_is_the_common_name_and_groups_are_organisations() -> None:
    authority = pki.make_authority("authority")
    certificate = read(authority.issue("system:node:a", ("system:nodes",)).certificate)
    certificate.verify_directly_issued_by(authority.certificate)
    assert certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "system:node:a"
    assert certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value == "system:nodes"


def test_only_a_certificate_with_hosts_may_serve() -> None:
    authority = pki.make_authority("authority")
    usages = {}
    for name, hosts in {"client": (), "server": ("kubernetes", "10.99.0.1")}.items():
        certificate = read(authority.issue(name, (), hosts).certificate)
        usages[name] = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert ExtendedKeyUsageOID.SERVER_AUTH not in usages["client"]
    assert ExtendedKeyUsageOID.SERVER_AUTH in usages["server"]


def test_an_authority_read_back_signs_as_before() -> None:
    authority = pki.make_authority("authority")
    again = pki.load_authority(pki.key_pem(authority.key), authority.pem)
    read(again.issue("late").certificate).verify_directly_issued_by(authority.certificate)


def test_a_kubeconfig_holds_all_that_a_login_needs() -> None:
    authority = pki.make_authority("authority")
    pair = authority.issue("admin", ("system:masters",))
    config = json.loads(pki.kubeconfig("https://127.0.0.1:1", authority, pair))
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(config["users"][0]["user"]["client-certificate-data"]).decode() == pair.certificate
