//go:build tools

// Package tools pins a containerd that the model of its configuration is compared with.
package tools

import _ "github.com/containerd/containerd/v2/cmd/containerd"
