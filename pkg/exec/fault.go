package exec

import (
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// The words of package fault under the names that they had here.
type (
	// Kind is fault.Kind.
	Kind = fault.Kind
	// UsageError is fault.UsageError.
	UsageError = fault.UsageError
)

// See fault.
const (
	KindUsage            = fault.KindUsage
	KindInvalidArguments = fault.KindInvalidArguments
	KindNotFound         = fault.KindNotFound
	KindAuth             = fault.KindAuth
	KindConnect          = fault.KindConnect
	KindTool             = fault.KindTool
	KindProtocol         = fault.KindProtocol
	KindTimeout          = fault.KindTimeout
	KindInterrupted      = fault.KindInterrupted
	KindInternal         = fault.KindInternal
)

// KindOf is fault.KindOf.
func KindOf(err error) Kind { return fault.KindOf(err) }

// HintOf is fault.HintOf.
func HintOf(err error) string { return fault.HintOf(err) }

// DetailsOf is fault.DetailsOf.
func DetailsOf(err error) []string { return fault.DetailsOf(err) }

// Count is words.Count.
func Count(n int, noun string) string { return words.Count(n, noun) }

// Nearest is words.Nearest.
func Nearest(name string, known []string) string { return words.Nearest(name, known) }
