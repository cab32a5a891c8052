"""Generated from `kubelet/protos` by `tools/generate_protos.py`: do not edit."""
