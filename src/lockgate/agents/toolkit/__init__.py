"""The container toolkit: makes the node's container runtime ready for GPUs, keeps it so, and leaves no trace."""
