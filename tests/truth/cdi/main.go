// Says what the CDI reference library makes of directories: one JSON case a line in, one JSON answer a line out.
//
// In:  {"directories": [{"name": base64 of the content} | null, ...], "names": [...]}; null is a directory that cannot be listed.
// Out: {"devices": {qualified name: edits}, "errors": {path: [text]}, "unresolved": text, "panic": text}; in texts and
// paths, the directory that holds a case is written /ROOT.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	oci "github.com/opencontainers/runtime-spec/specs-go"
	"tags.cncf.io/container-device-interface/pkg/cdi"
	specs "tags.cncf.io/container-device-interface/specs-go"
)

type request struct {
	Directories []map[string][]byte `json:"directories"`
	Names       []string            `json:"names"`
}

type answer struct {
	Devices    map[string]*specs.ContainerEdits `json:"devices"`
	Errors     map[string][]string              `json:"errors"`
	Unresolved string                           `json:"unresolved"`
	Panic      string                           `json:"panic"`
}

func main() {
	root, err := os.MkdirTemp("", "cdi-truth-")
	check(err)
	defer os.RemoveAll(root)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for number := 0; lines.Scan(); number++ {
		var asked request
		check(json.Unmarshal(lines.Bytes(), &asked))
		check(out.Encode(ask(asked, filepath.Join(root, fmt.Sprint(number)))))
	}
	check(lines.Err())
}

func ask(asked request, root string) (result answer) {
	defer os.RemoveAll(root)
	defer func() {
		if trouble := recover(); trouble != nil {
			result = answer{Panic: fmt.Sprint(trouble)}
		}
	}()
	cache, err := cdi.NewCache(cdi.WithAutoRefresh(false), cdi.WithSpecDirs(write(asked.Directories, root)...))
	check(err)
	result.Devices = map[string]*specs.ContainerEdits{}
	for _, name := range cache.ListDevices() {
		device := cache.GetDevice(name)
		edits := (&cdi.ContainerEdits{}).Append(&cdi.ContainerEdits{ContainerEdits: &device.GetSpec().ContainerEdits})
		result.Devices[name] = edits.Append(&cdi.ContainerEdits{ContainerEdits: &device.ContainerEdits}).ContainerEdits
	}
	result.Errors = map[string][]string{}
	for path, errs := range cache.GetErrors() {
		for _, err := range errs {
			where := strings.ReplaceAll(path, root, "/ROOT")
			result.Errors[where] = append(result.Errors[where], strings.ReplaceAll(err.Error(), root, "/ROOT"))
		}
	}
	if missing, err := cache.InjectDevices(&oci.Spec{}, unknown(cache, asked.Names)...); len(missing) > 0 {
		result.Unresolved = err.Error()
	}
	return result
}

// unknown leaves out names that resolve: injecting them would look for their device nodes on this machine.
func unknown(cache *cdi.Cache, names []string) (missing []string) {
	for _, name := range names {
		if cache.GetDevice(name) == nil {
			missing = append(missing, name)
		}
	}
	return missing
}

func write(directories []map[string][]byte, root string) (paths []string) {
	for index, files := range directories {
		directory := filepath.Join(root, fmt.Sprint(index))
		paths = append(paths, directory)
		if files == nil {
			check(os.MkdirAll(root, 0o755))
			check(os.WriteFile(directory, nil, 0o644)) // a file where a directory should be
			continue
		}
		check(os.MkdirAll(directory, 0o755))
		for name, content := range files {
			check(os.WriteFile(filepath.Join(directory, name), content, 0o644))
		}
	}
	return paths
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
