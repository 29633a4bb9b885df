package doctor

import (
	"context"
	"time"
)

// sampleProcess measures a process tree while it is idle for d.
func sampleProcess(ctx context.Context, _ int, d time.Duration) *ProcessSample {
	quiet(ctx, d)
	return nil
}
