"""The kubelet's gRPC door: device plugin (`v1beta1`) and pod-resources (`v1`) over unix sockets, in typed values."""
