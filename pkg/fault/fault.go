// Package fault defines the kinds of failure, and reads errors' kind, hint and details through their methods, without
// knowing their types.
package fault

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
)

// Kind is the category of a failure: the "kind" of the JSON envelope, which also determines the exit code.
type Kind string

// The kinds of failure.
const (
	KindUsage            Kind = "usage"             // the command line or the config is wrong
	KindInvalidArguments Kind = "invalid_arguments" // the arguments do not fit the schema; nothing was sent
	KindNotFound         Kind = "not_found"         // no such tool or server
	KindAuth             Kind = "auth"              // authentication needed or refused
	KindConnect          Kind = "connect"           // a server could not be started or reached
	KindTool             Kind = "tool"              // the tool ran and failed
	KindProtocol         Kind = "protocol"          // the server exited during a call or violated the protocol
	KindTimeout          Kind = "timeout"           // a time limit was exceeded
	KindInterrupted      Kind = "interrupted"       // the user interrupted it
	KindInternal         Kind = "internal"          // an error in toolx
)

// KindOf returns the kind of err: that of the first error in its tree with a
// method Kind() Kind, else one for a context's end, else KindInternal.
func KindOf(err error) Kind {
	kinded, ok := errors.AsType[interface {
		error
		Kind() Kind
	}](err)
	switch {
	case ok:
		return kinded.Kind()
	case errors.Is(err, context.DeadlineExceeded):
		return KindTimeout
	case errors.Is(err, context.Canceled):
		return KindInterrupted
	}
	return KindInternal
}

// HintOf returns what to do about err, in one or more lines, from the first
// error in its tree with a method Hint() string; empty if none has one.
func HintOf(err error) string {
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return hinted.Hint()
	}
	return ""
}

// NextOf returns the command to run after err, from the first error in its tree with a method Next() string; empty
// where none has one.
func NextOf(err error) string {
	if led, ok := errors.AsType[interface {
		error
		Next() string
	}](err); ok {
		return led.Next()
	}
	return ""
}

// DetailsOf returns the details of err, one fact a line, from the first error in its tree with a method Details()
// []string; nil if none has one.
func DetailsOf(err error) []string {
	if detailed, ok := errors.AsType[interface {
		error
		Details() []string
	}](err); ok {
		return detailed.Details()
	}
	return nil
}

// UsageError reports wrong input, before any tool is involved.
type UsageError struct {
	Message string
	Fix     string // what to type instead; may be empty
	// Server is the unknown server's name, if that is the problem.
	Server string
}

// Usage returns a UsageError.
func Usage(message, fix string) *UsageError { return &UsageError{Message: message, Fix: fix} }

func (e *UsageError) Error() string { return e.Message }

// Kind returns KindUsage.
func (e *UsageError) Kind() Kind { return KindUsage }

// Hint returns what to type instead.
func (e *UsageError) Hint() string { return e.Fix }

// Reason returns the network's or file system's reason for a failure, without the path or address, which the caller's
// message has. A path such as …/token before a colon would look like the name of a secret.
func Reason(err error) string {
	var file *fs.PathError
	var call *os.SyscallError
	var address *net.AddrError
	var name *net.DNSError
	switch {
	case errors.As(err, &file):
		return file.Err.Error()
	case errors.As(err, &call):
		return call.Err.Error()
	case errors.As(err, &address):
		return address.Err
	case errors.As(err, &name):
		return name.Err
	}
	return err.Error()
}
