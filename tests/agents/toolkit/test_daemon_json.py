"""Docker's daemon.json gets our runtimes, keeps everything else, and is given back as it was."""

import json

import pytest

from lockgate.agents.toolkit.engines.daemon_json import Record, with_runtimes, without_runtimes
from lockgate.containerd import HANDLERS, Refusal, Wanted
from lockgate.containerd.dropin_node import text_hash

PATH = "/etc/docker/daemon.json"
THEIRS = '{\n  "log-level": "warn",\n  "runtimes": {\n    "kata": {\n      "path": "/opt/kata"\n    }\n  }\n}\n'


def added(text: str | None, wanted: Wanted | None = None, flags: tuple[str, ...] = ()) -> str:
    answer = with_runtimes(PATH, text, wanted or Wanted(), flags)
    assert isinstance(answer, str), answer
    return answer


def test_runtimes_are_aliases_of_runc_and_cdi_is_on() -> None:
    assert json.loads(added(THEIRS)) == {
        "log-level": "warn",
        "runtimes": {"kata": {"path": "/opt/kata"}} | {name: {"path": "runc"} for name in HANDLERS},
        "features": {"cdi": True},
    }


def test_order_and_indentation_stay() -> None:
    text = added(THEIRS)
    assert text.startswith('{\n  "log-level": "warn",\n  "runtimes": {\n    "kata"')
    assert text.endswith("}\n")
    assert added('{\n\t"debug": true\n}').startswith('{\n\t"debug": true,\n')


def test_a_node_without_the_file_gets_one() -> None:
    assert set(json.loads(added(None, Wanted(enable_cdi=False)))) == {"runtimes"}


def test_the_default_runtime_is_set_when_it_is_wanted() -> None:
    assert json.loads(added(THEIRS, Wanted(default="nvidia")))["default-runtime"] == "nvidia"


@pytest.mark.parametrize("text", [THEIRS, None, '{"features":{"buildkit":true}}', "  \n"])
def test_what_nobody_edited_is_given_back_byte_for_byte(text: str | None) -> None:
    after = added(text, Wanted(default="nvidia"))
    assert without_runtimes(PATH, after, Record(text, HANDLERS, text_hash(after))) == text


def test_what_a_person_edited_since_stays_and_only_ours_goes() -> None:
    after = added(THEIRS, Wanted(default="nvidia"))
    edited = after.replace('"warn"', '"debug"')
    left = without_runtimes(PATH, edited, Record(THEIRS, HANDLERS, text_hash(after)))
    assert left == THEIRS.replace('"warn"', '"debug"')


def test_cdi_that_was_on_before_stays_on() -> None:
    before = '{\n    "features": {\n        "cdi": true\n    }\n}\n'
    after = added(before)
    edited = after.replace("{", '{\n    "debug": true,', 1)
    left = without_runtimes(PATH, edited, Record(before, HANDLERS, text_hash(after)))
    assert isinstance(left, str)
    assert json.loads(left) == {"debug": True, "features": {"cdi": True}}


def test_what_a_person_had_under_our_names_comes_back_even_after_an_edit() -> None:
    theirs = {"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}, "default-runtime": "nvidia"}
    before = json.dumps(theirs)
    after = added(before, Wanted(default="nvidia"))
    assert json.loads(after)["runtimes"]["nvidia"] == {"path": "runc"}
    edited = json.dumps(json.loads(after) | {"debug": True})
    left = without_runtimes(PATH, edited, Record(before, HANDLERS, text_hash(after)))
    assert isinstance(left, str)
    assert json.loads(left) == theirs | {"debug": True}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "daemon.json: .* dockerd does not start with it"),
        ("[]", "is no object"),
        ('{"runtimes": []}', '"runtimes" is no object'),
        ('{"a": "\ufffd"}', "is not UTF-8"),
    ],
)
def test_a_file_that_dockerd_would_not_take_is_refused(text: str, words: str) -> None:
    answer = with_runtimes(PATH, text, Wanted(), ())
    assert isinstance(answer, Refusal)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(answer.message)


def test_a_flag_that_would_clash_with_the_file_is_named() -> None:
    answer = with_runtimes(PATH, THEIRS, Wanted(default="nvidia"), ("--default-runtime", "kata"))
    assert isinstance(answer, Refusal)
    assert "started with --default-runtime" in answer.message
    assert added(THEIRS, Wanted(), ("--default-runtime=kata",)), "no clash while the file does not set it"
