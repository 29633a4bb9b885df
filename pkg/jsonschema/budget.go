package jsonschema

import (
	"context"
	"errors"
	"math"
)

// ErrSteps says that work would take too many steps.
var ErrSteps = errors.New("the schema takes too many steps to check these arguments")

// budget bounds work on a schema by a number of steps and by a context. A step takes a few microseconds: one schema
// applied to one value, a few names compared. Unlike a clock, steps give the same result every time. A budget is for
// one goroutine.
type budget struct {
	ctx   context.Context
	left  int
	whole *budget // the budget that this is a part of, which is spent too; or nil
	err   error   // why work must stop: ErrSteps, or the error of ctx
}

// lookEvery is the number of steps between checks of the context.
const lookEvery = 64

// newBudget returns a budget of that many steps that ends with ctx.
func newBudget(ctx context.Context, steps int) *budget {
	return &budget{ctx: ctx, left: steps, err: ctx.Err()}
}

// unlimited returns a budget that only ends with ctx, to be divided into parts.
func unlimited(ctx context.Context) *budget { return newBudget(ctx, math.MaxInt) }

// part returns a budget for a part of the work.
func (b *budget) part(steps int) *budget {
	return &budget{ctx: b.ctx, left: steps, whole: b, err: b.err}
}

// spend spends steps. The error is why work must stop; once set, it is kept.
func (b *budget) spend(steps int) error {
	if b.err != nil {
		return b.err
	}
	before := b.left
	b.left -= steps
	switch {
	case b.left < 0:
		b.err = ErrSteps
	case b.whole != nil:
		b.err = b.whole.spend(steps)
	case b.left/lookEvery != before/lookEvery:
		b.err = b.ctx.Err()
	}
	return b.err
}

// ended returns the error of the context, nil while it has none.
func (b *budget) ended() error { return b.ctx.Err() }
