"""Gate 1 as kube-scheduler keeps it: request arithmetic, taints, selectors, filters, and the texts it writes. Pure."""
