"""What is made of the written cases asks what it means to ask, and demands no more than its facts can tell."""

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import Missing
from lockgate.rules import all_rules
from tests.corpus.apart import moved_ask
from tests.corpus.folder import through_folder
from tests.corpus.variants import VARIANTS, world

_TAINTED = "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 node(s) were unschedulable."


def test_a_question_moves_with_what_it_is_about() -> None:
    assert moved_ask("pod/x") == "other/pod/x"
    assert moved_ask("namespace/default") == "namespace/other"
    assert moved_ask("namespace/gpu-operator") == "namespace/gpu-operator"


def test_a_folder_holds_the_pods_of_the_one_namespace_that_could_be_read() -> None:
    told = world({"nodes": {"gpu-a": {}}, "pods": {"default/x": {}}, "missing": ["pods"]})
    read = through_folder(told.objects, told.beside)
    assert read.pods == Missing("only of namespace default: may not be read", "ask for it")
    assert [pod.name for pod in read.known_pods] == ["x"]
    diagnosis = diagnose(read, parse_target("pod/x"), all_rules())
    assert diagnosis.target.name == "x"


def test_where_the_scheduler_alone_named_a_taint_its_newer_words_take_that_away() -> None:
    told = {"default/x": {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": _TAINTED}]}}}
    newer = VARIANTS["Kubernetes 1.37"]
    assert newer.takes_away(world({"pods": told, "missing": ["nodes"]}))
    assert not newer.takes_away(world({"pods": told, "nodes": {"gpu-a": {}}}))
    assert not newer.takes_away(world({"pods": {"default/x": {}}, "missing": ["nodes"]}))
