//go:build !unix

package result

// pixels returns 0, 0: the size of a terminal in pixels is unknown on this system.
func pixels(int) (width, height int) { return 0, 0 }
