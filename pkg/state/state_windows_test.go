package state

import "testing"

// irregular are paths of what is no regular file.
func irregular(t *testing.T) map[string]string { return map[string]string{"a folder": t.TempDir()} }
