//go:build tools

// Package tools pins the helm that installs the chart in the test cluster.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
