//go:build !linux

package stdio

import "os"

func readPipe(pipe *os.File, b []byte) (n int, err error) { return pipe.Read(b) }

// WritePipe writes all of b to a pipe. n is how many bytes were written.
func WritePipe(pipe *os.File, b []byte) (n int, err error) { return pipe.Write(b) }

// widen does nothing: a pipe is as wide as the system makes it.
func widen(*os.File) {}

// unreadIn returns -1: only Linux tells how many bytes wait in a pipe for its reader.
func unreadIn(*os.File) int { return -1 }
