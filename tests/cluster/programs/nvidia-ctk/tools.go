//go:build tools

// Package tools pins the nvidia-ctk with which our specifications and drop-ins are compared.
package tools

import (
	_ "github.com/NVIDIA/nvidia-container-toolkit/cmd/nvidia-ctk"
)
