//go:build !unix

package state

import "io/fs"

// WritableByOthers returns nothing: the mode of a file does not say here who can write it.
func WritableByOthers(fs.FileInfo) string { return "" }
