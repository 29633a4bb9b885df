//go:build unix

package result

import "golang.org/x/sys/unix"

// pixels returns the size of a terminal in pixels, zero if the terminal does not report it.
func pixels(fd int) (width, height int) {
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Xpixel), int(size.Ypixel)
}
