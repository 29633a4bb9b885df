//go:build !unix

package config

import "io/fs"

// writableByOthers reports nothing: the mode of a file does not say here who can write it.
func writableByOthers(fs.FileInfo) string { return "" }
