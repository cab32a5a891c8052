"""Remedies that many rules give: the same act has the same command and the same risk everywhere."""

from lockgate.model.finding import Remedy, Risk


def drain(node: str, text: str = "Drain the node and reboot it") -> Remedy:
    """Drain a node; `text` says what it is for, and what comes after it."""
    return Remedy(text, f"kubectl drain {node} --ignore-daemonsets", Risk.HIGH)


def drain_and_reset(node: str, gpu: str) -> tuple[Remedy, ...]:
    """Drain a node and reset one of its GPUs; `gpu` as nvidia-smi's `-i` takes it."""
    return (
        drain(node, f"Drain {node}, so that nothing uses the GPU"),
        Remedy(f"Then reset the GPU on {node}, or reboot the node", f"nvidia-smi --gpu-reset -i {gpu}", Risk.HIGH),
    )
