"""What the kubelet refused or dropped when the pod arrived."""
