"""How many nodes may be in change at once."""


def parse_budget(text: str, nodes: int) -> int:
    """`spec.daemonsets.rollingUpdate.maxUnavailable` (`2`, `25%`, empty: 1) over a number of nodes.

    A percentage is rounded up, as the DaemonSet controller does; the result is at least 1, since 0 would never end.
    What is neither a number nor a percentage counts as 1.
    """
    number = text.strip().removesuffix("%")
    if not (number.isascii() and number.isdecimal()):
        return 1
    amount = -(-int(number) * nodes // 100) if text.strip().endswith("%") else int(number)
    return max(1, amount)
