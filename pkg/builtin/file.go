package builtin

import (
	"fmt"
	"io"
	"os"

	"toolx/pkg/exec"
)

// readUpTo reads a whole file of at most limit bytes. It refuses what is no plain
// file: to open a pipe would wait for a writer.
func readUpTo(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %s", path, exec.Bytes(limit))
	}
	return data, nil
}
