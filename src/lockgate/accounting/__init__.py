"""The kubelet's device accounting: capacity and allocatable through its events, admission and its texts. Pure."""
