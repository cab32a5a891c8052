"""The real kube-scheduler as judge of `lockgate.scheduling`: the same pods on the same nodes, decision by decision."""
