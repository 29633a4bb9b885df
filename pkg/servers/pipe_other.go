//go:build !linux

package servers

import "os"

func readPipe(pipe *os.File, b []byte) (n int, err error) { return pipe.Read(b) }

func writePipe(pipe *os.File, b []byte) (n int, err error) { return pipe.Write(b) }
