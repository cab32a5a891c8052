"""The runtime ignores the device plugin's list of GPUs.

The plugin hands GPUs out in the variable `NVIDIA_VISIBLE_DEVICES` (strategy `envvar`), and the runtime is told to
ignore that variable in containers that are not privileged.

Why it matters: every unprivileged pod gets a GPU by the numbers and none in fact. Each setting is right by itself.
How to tell: `accept-nvidia-visible-devices-envvar-when-unprivileged = false` in the runtime's configuration, and the
plugin's `DEVICE_LIST_STRATEGY` is `envvar`, which it is as well where nobody sets it.
Fix: let the plugin hand out CDI names (`cdi-cri`), or volume mounts, with
`accept-nvidia-visible-devices-as-volume-mounts` for the runtime.
"""

import re

from lockgate.diagnosis.absent_driver import absent_driver
from lockgate.diagnosis.device_plugins import is_plugin
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.by_hand import ignored
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import ClusterPolicies, DaemonSets, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Container, DaemonSet, Pod

_STRATEGY = "DEVICE_LIST_STRATEGY"
_FLAG = re.compile(r"--device-list-strategy[= ](\S+)")
_FILE = re.compile(r"--config-file\b|\bCONFIG_FILE\b")


@rule(
    codes=("J10",),
    severity=Severity.BLOCKER,
    stages=(Stage.RUNNING, Stage.FAILED),
    mutes=("gpu-use/not-injected",),
)
def device_list_refused(
    pod: Pod,
    words: Words,
    cluster_policies: ClusterPolicies | Missing,
    daemon_sets: DaemonSets | Missing,
    node_words: NodeWords,
) -> Failed | None:
    found = absent_driver(words)
    if found is None or any(c.security_context and c.security_context.privileged for c in pod.spec.containers):
        return None
    refused = ignored(pod.spec.node_name, cluster_policies, node_words)
    strategy = _strategy(daemon_sets)
    if refused is None or strategy is None:
        return None
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary="The plugin hands GPUs out in a variable that the runtime ignores in unprivileged containers.",
        evidence=(found[1].evidence, refused, strategy),
        remedy=(Remedy("Let the plugin hand out CDI names", _with_cdi(cluster_policies), Risk.HIGH),),
    )


def _with_cdi(policies: ClusterPolicies | Missing) -> str:
    """The command for the policy that is known; nothing where there is none, or a choice."""
    if isinstance(policies, Missing) or len(policies) != 1:
        return ""
    return f'kubectl patch clusterpolicy {policies[0].name} --type merge -p \'{{"spec":{{"cdi":{{"enabled":true}}}}}}\''


def _strategy(daemon_sets: DaemonSets | Missing) -> Evidence | None:
    """The plugin's own setting, where it is `envvar` and nothing beside it; that is also what it does unless told."""
    for ds in () if isinstance(daemon_sets, Missing) else daemon_sets:
        for container in filter(_is_nvidias, ds.spec.template.spec.containers if is_plugin(ds) else ()):
            given, value = _given(container)
            if set(value.split(",")) == {"envvar"} or not (given or _has_file(ds)):
                field = f"spec.template.spec.containers[{container.name}].env[{_STRATEGY}]"
                place, note = f"daemonset/{ds.namespace}/{ds.name}", "" if given else "the plugin's default is envvar"
                return Evidence(object=place, field=field, value=value or "absent", note=note)
    return None


def _is_nvidias(container: Container) -> bool:
    """Whether it runs the plugin that NVIDIA's operator and charts install; GKE's own takes no such setting."""
    name = container.name
    return "nvidia-device-plugin" in name or ("k8s-device-plugin" in container.image and "device-plugin" in name)


def _given(container: Container) -> tuple[bool, str]:
    """Whether the strategy is set in the variable or the arguments, and as what; "" where it stands elsewhere."""
    flags = _FLAG.findall(" ".join((*container.command, *container.args)))
    env = next((e for e in container.env if e.name == _STRATEGY), None)
    return bool(flags or env), ",".join(flags) or (env.value if env else "")


def _has_file(ds: DaemonSet) -> bool:
    """Whether the plugin is given a file, which may set the strategy too."""
    spec = ds.spec.template.spec
    return any(
        "config-manager" in c.name or _FILE.search(" ".join((*c.command, *c.args, *(e.name for e in c.env))))
        for c in (*spec.init_containers, *spec.containers)
    )
