package wire

import (
	"bytes"

	"toolx/pkg/rawjson"
)

// lineEnd says how a line of stdout ended.
type lineEnd int

// How a line of stdout ends.
const (
	EndNewline lineEnd = iota // as it should
	endIdle                   // no newline, and nothing more for a while
	EndEOF                    // no newline, and nothing more ever
	EndTooLong                // cut at the size limit; the rest is skipped
)

// Line is one newline-delimited piece of a server's stdout.
type Line struct {
	number int   // from 1
	offset int64 // of its first byte in the stream
	Bytes  []byte
	End    lineEnd
}

// largeLine is the size in bytes from which a line's buffer is cut to its size when less than half of it is used.
const largeLine = 1 << 20

// Framer cuts a stream of bytes into lines, whatever the chunks it comes in. It is neither a bufio.Scanner, which ends
// at a long line, nor a json.Decoder, which reads "2026-06-04 …" as the number 2026. The zero value with Max and Emit
// set is ready. Emit owns Line.Bytes.
type Framer struct {
	Max  int64
	Emit func(Line)

	partial  []byte
	number   int   // of complete lines
	offset   int64 // of the first byte of partial
	skipping bool  // inside the rest of a line that was too long
	idled    bool  // the last line was emitted before its newline came
}

// Feed takes the next chunk; it keeps no reference to it.
func (f *Framer) Feed(chunk []byte) {
	for len(chunk) > 0 {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			f.grow(chunk)
			return
		}
		f.grow(chunk[:i])
		f.finish(EndNewline, 1)
		chunk = chunk[i+1:]
	}
}

// grow appends to the line that is being read.
func (f *Framer) grow(part []byte) {
	if f.skipping {
		f.offset += int64(len(part))
		return
	}
	f.partial = append(rawjson.Room(f.partial, len(part), f.Max), part...)
	if int64(len(f.partial)) > f.Max {
		f.finish(EndTooLong, 0)
		f.skipping = true
	}
}

// finish emits the line that is being read; newline is how many bytes ended it.
func (f *Framer) finish(end lineEnd, newline int64) {
	if f.skipping {
		f.skipping = false
		f.offset += newline
		return
	}
	if f.idled && len(f.partial) == 0 && end == EndNewline {
		f.idled = false // the newline that the last line was waited for
		f.offset += newline
		return
	}
	f.idled = end == endIdle
	f.number++
	if len(f.partial) > largeLine && cap(f.partial)-len(f.partial) > len(f.partial) {
		f.partial = bytes.Clone(f.partial) // it may be kept for long
	}
	current := Line{number: f.number, offset: f.offset, Bytes: f.partial, End: end}
	f.offset += int64(len(f.partial)) + newline
	f.partial = nil
	f.Emit(current)
}

// Pending returns what has been read of a line that has not ended.
func (f *Framer) Pending() []byte { return f.partial }

// Flush emits a line that ends without newline, if there is one.
func (f *Framer) Flush(end lineEnd) {
	if len(f.partial) > 0 {
		f.finish(end, 0)
	}
}
