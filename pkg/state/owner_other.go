//go:build !unix

package state

import "io/fs"

// noFollow has no effect here: Append checks for a link before it opens a file.
const noFollow = 0

// WritableByOthers returns nothing: here the mode of a file does not determine who can write it.
func WritableByOthers(fs.FileInfo) string { return "" }

// keepOwner does nothing: a new file belongs to the user.
func keepOwner(string, fs.FileInfo) error { return nil }
