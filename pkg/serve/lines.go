package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
)

// requestLine is one line from the client of toolx serve.
type requestLine struct {
	bytes []byte // with its newline, if it had one
	// tooLong is the size in bytes of a line over the limit, which was skipped; else zero. id is that of the request on
	// it, nil if unknown.
	tooLong int64
	id      json.RawMessage
}

// readRequests sends the lines of in, including a last one without a newline, until in or ctx ends. The error is that
// of reading, other than io.EOF.
func readRequests(ctx context.Context, in io.Reader, limit int64, lines chan<- requestLine) error {
	const bufferSize = 64 << 10
	reader := bufio.NewReaderSize(in, bufferSize)
	for {
		line, err := readRequest(reader, limit)
		if line.bytes != nil || line.tooLong > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// The sizes in bytes of the parts of a long line that are kept to find its id.
const (
	headSize = 4 << 10
	tailSize = 256
)

// readRequest reads one line of at most limit bytes; of a longer line it keeps only the beginning and the end.
func readRequest(reader *bufio.Reader, limit int64) (requestLine, error) {
	var kept, tail []byte
	var size int64
	for {
		part, err := reader.ReadSlice('\n')
		size += int64(len(part))
		if size <= limit {
			kept = extend(kept, part, limit)
		} else {
			if tail == nil {
				tail = tailOf(nil, kept)
			}
			tail = tailOf(tail, part)
			kept = headOf(kept, part)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case size <= limit:
			return requestLine{bytes: kept}, err
		default:
			return requestLine{tooLong: size, id: idOf(kept, tail)}, err
		}
	}
}

// extend appends to a line. It doubles a large one, which append would copy more often.
func extend(kept, part []byte, limit int64) []byte {
	need := len(kept) + len(part)
	if need > cap(kept) && len(kept) > 0 {
		kept = append(make([]byte, 0, min(2*int64(need), limit)), kept...)
	}
	return append(kept, part...)
}

// headOf returns the beginning of a line after the next piece, part.
func headOf(kept, part []byte) []byte {
	if len(kept) > headSize {
		return bytes.Clone(kept[:headSize]) // release the rest
	}
	return append(kept, part[:min(len(part), headSize-len(kept))]...)
}

// tailOf returns the end of a line after the next piece, part.
func tailOf(tail, part []byte) []byte {
	tail = append(tail, part[max(0, len(part)-tailSize):]...)
	return tail[max(0, len(tail)-tailSize):]
}

// idOf finds the id of a request in its beginning and end: most clients write it before the large member, others as the
// last member.
func idOf(head, tail []byte) json.RawMessage {
	if id := idBefore(head); id != nil {
		return id
	}
	return idAtEnd(tail)
}

// idBefore reads the complete members at the beginning of an object.
func idBefore(head []byte) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(head))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		name, err := decoder.Token()
		var value json.RawMessage
		if err != nil || decoder.Decode(&value) != nil {
			return nil
		}
		whole := decoder.InputOffset() < int64(len(head)) // a number may continue
		if name == "id" && whole && bytes.IndexByte([]byte(`"-0123456789`), value[0]) >= 0 {
			return value
		}
	}
	return nil
}

// idAtEnd finds "id":… right before the last brace. A quote that follows a comma or a brace in JSON outside a string
// begins a name; and the last brace is that of the message.
func idAtEnd(tail []byte) json.RawMessage {
	last := regexp.MustCompile(`[,{]\s*"id"\s*:\s*("[^"\\]*"|-?[0-9]+)\s*\}\s*$`)
	if found := last.FindSubmatch(tail); found != nil {
		return found[1]
	}
	return nil
}
