package exec

import (
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// UsageError is fault.UsageError, for package doctor.
type UsageError = fault.UsageError

// See fault.
const (
	KindInvalidArguments = fault.KindInvalidArguments
	KindNotFound         = fault.KindNotFound
	KindAuth             = fault.KindAuth
	KindProtocol         = fault.KindProtocol
	KindTimeout          = fault.KindTimeout
	KindInterrupted      = fault.KindInterrupted
)

// KindOf is fault.KindOf.
func KindOf(err error) fault.Kind { return fault.KindOf(err) }

// Count is words.Count.
func Count(n int, noun string) string { return words.Count(n, noun) }
