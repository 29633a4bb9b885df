package exec

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"toolx/pkg/fault"
)

// TestOperationIsACallOfItsOwn proves that what is no tool call has the envelope and
// the log of one (EXEC-4, EXEC-5, EXEC-11).
func TestOperationIsACallOfItsOwn(t *testing.T) {
	bus := &Bus{}
	var finished []CallFinished
	bus.Subscribe(func(event Event) {
		if e, ok := event.(CallFinished); ok {
			finished = append(finished, e)
		}
	})
	executor := &Executor{Registry: NewRegistry(bus), Bus: bus}
	blob := json.RawMessage(`{"type":"resource","resource":{"uri":"x:1","blob":"aGk="}}`)
	for _, test := range []struct {
		name  string
		read  func(json.RawMessage) (Parts, error)
		value string
		kind  fault.Kind
	}{
		{"the reply is the value", nil, `{"a":1}`, ""},
		{"a part is the value", func(json.RawMessage) (Parts, error) { return Parts{Value: json.RawMessage(`1`)}, nil }, `1`, ""},
		{
			"the content is the value",
			func(json.RawMessage) (Parts, error) { return Parts{Content: []json.RawMessage{blob}}, nil },
			`[` + string(blob) + `]`, "",
		},
		{"it cannot be read", func(json.RawMessage) (Parts, error) { return Parts{}, errors.New("odd") }, "", fault.KindProtocol},
	} {
		result := executor.Do(t.Context(), Operation{
			Name: "x/y", Server: "s", Read: test.read,
			Run: func(context.Context, func(Progress)) (json.RawMessage, error) { return json.RawMessage(`{"a":1}`), nil },
		})
		if string(result.Value) != test.value || result.Success == (test.kind != "") ||
			test.kind != "" && fault.KindOf(result.Err) != test.kind {
			t.Errorf("%s: %s, %v", test.name, result.Value, result.Err)
		}
		if result.ToolName != "x/y" || result.Server != "s" || result.Timing == nil {
			t.Errorf("%s: the result is %+v", test.name, result)
		}
	}
	if len(finished) != 4 {
		t.Errorf("%d operations were told of, want 4", len(finished))
	}
}

// TestOperationHasClocks proves EXEC-10 for what is no tool call, and its words.
func TestOperationHasClocks(t *testing.T) {
	executor := &Executor{Registry: NewRegistry(nil)}
	result := executor.Do(t.Context(), Operation{
		Name: "x/y", Timeout: time.Millisecond,
		Run: func(ctx context.Context, _ func(Progress)) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	want := "Request 'x/y' timeout: no result or progress within 1ms"
	if result.Err == nil || result.Err.Error() != want {
		t.Errorf("%v, want %s", result.Err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result = executor.Do(ctx, Operation{
		Name: "x/y",
		Run:  func(ctx context.Context, _ func(Progress)) (json.RawMessage, error) { return nil, ctx.Err() },
	})
	if fault.KindOf(result.Err) != fault.KindInterrupted || result.Err.Error() != "interrupted" {
		t.Errorf("interrupted: %v", result.Err)
	}
}

// TestPauseSuspendsDeadlines proves that no time passes while a person is asked, until the last of several pauses has
// ended; that progress during a pause starts no clock; and that the outer deadline is suspended with the inner.
func TestPauseSuspendsDeadlines(t *testing.T) {
	for _, limit := range []struct{ idle, max time.Duration }{{time.Hour, 0}, {-1, time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			outer, stopOuter := WithLimit(t.Context(), 2*time.Hour)
			defer stopOuter()
			inner := &deadline{idle: limit.idle, max: limit.max}
			ctx, stop := inner.start(outer, TimeoutError{})
			defer stop()
			resume, again := Pause(ctx), Pause(ctx)
			inner.restart()
			time.Sleep(3 * time.Hour) // of the bubble's own clock
			resume()
			resume() // ends one pause only
			time.Sleep(3 * time.Hour)
			if ctx.Err() != nil || outer.Err() != nil {
				t.Errorf("time passes during a pause: %v, %v", context.Cause(ctx), context.Cause(outer))
			}
			again()
			began := time.Now()
			<-ctx.Done()
			if took := time.Since(began); took != time.Hour || fault.KindOf(context.Cause(ctx)) != fault.KindTimeout {
				t.Errorf("%v after %s", context.Cause(ctx), took)
			}
			if asked, _ := inner.used(); asked != 6*time.Hour {
				t.Errorf("a person was asked for %s", asked)
			}
			<-outer.Done()
			cause, took := context.Cause(outer), time.Since(began)
			if took != 2*time.Hour || fault.KindOf(cause) != fault.KindTimeout {
				t.Errorf("outer: %v after %s", cause, took)
			}
		})
	}
	Pause(t.Context())() // outside any call
}

// Progress moves the end of the time without progress, and not that of the whole time.
func TestProgressMovesTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deadline{idle: time.Minute, max: 3 * time.Minute}
		ctx, stop := d.start(t.Context(), TimeoutError{Tool: "t"})
		defer stop()
		began := time.Now()
		for range 3 {
			time.Sleep(50 * time.Second) // of the bubble's own clock
			d.restart()
		}
		<-ctx.Done()
		const want = "Tool 't' timeout: no result after 3m0s"
		if took := time.Since(began); took != 3*time.Minute || context.Cause(ctx).Error() != want {
			t.Errorf("%v after %s", context.Cause(ctx), took)
		}
	})
}

// What happens after the end does not change its cause, which other goroutines read.
func TestCauseOfATimeoutIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deadline{idle: time.Minute, max: 3 * time.Minute}
		ctx, stop := d.start(t.Context(), TimeoutError{Tool: "t"})
		defer stop()
		<-ctx.Done()
		before := context.Cause(ctx).Error()
		time.Sleep(time.Hour) // of the bubble's own clock
		Pause(ctx)()
		time.Sleep(time.Second)
		if after := context.Cause(ctx).Error(); after != before {
			t.Errorf("%q became %q", before, after)
		}
	})
}

// A renewable limit ends when more returns nothing.
func TestRenewableLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		more := []time.Duration{time.Minute, 2 * time.Minute, 0}
		began := time.Now()
		ctx, stop := WithRenewableLimit(t.Context(), time.Second, func() time.Duration {
			left := more[0]
			more = more[1:]
			return left
		})
		defer stop()
		<-ctx.Done()
		if took := time.Since(began); took != 3*time.Minute+time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}

// A state is asked for again before the first time limit ends; suspended ones count for nothing.
func TestWaitTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, stopOuter := WithLimit(t.Context(), 40*time.Second)
		defer stopOuter()
		l := &deadline{idle: 10 * time.Second}
		ctx, stop := l.start(outer, TimeoutError{})
		defer stop()
		wants := func(wanted, want time.Duration) {
			t.Helper()
			if got := WaitTime(ctx, wanted); got != want {
				t.Errorf("wait %s, want %s instead of %s", got, want, wanted)
			}
		}
		wants(5*time.Second, 5*time.Second)
		wants(10*time.Second, 7500*time.Millisecond)
		<-time.After(8 * time.Second)
		wants(5*time.Second, 1500*time.Millisecond)
		l.restart()
		wants(5*time.Second, 5*time.Second)
		resume := Pause(ctx)
		wants(time.Hour, time.Hour)
		resume()
		wants(time.Hour, 7500*time.Millisecond)
		if got := WaitTime(outer, time.Hour); got != 24*time.Second {
			t.Errorf("wait %s under the outer limit alone, want 24s", got)
		}
	})
	if got := WaitTime(t.Context(), time.Hour); got != time.Hour {
		t.Errorf("wait %s without limits", got)
	}
}

// TestWithin gives up a request that serves the next step after the time of a call, and
// not while a person is being asked (EXEC-10).
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		executor := &Executor{Defaults: Defaults{Timeout: time.Minute}}
		wait := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		began := time.Now()
		_, err := Within(t.Context(), executor, "prompts/list", wait)
		const want = "Request 'prompts/list' timeout: no result or progress within 1m0s"
		if err == nil || err.Error() != want || time.Since(began) != time.Minute {
			t.Errorf("%v after %s, want %s", err, time.Since(began), want)
		}
		answer, err := Within(t.Context(), executor, "prompts/list", func(ctx context.Context) (int, error) {
			resume := Pause(ctx)
			time.Sleep(time.Hour) // of the bubble's own clock
			resume()
			return 7, ctx.Err()
		})
		if answer != 7 || err != nil {
			t.Errorf("the time of a person ended it: %d, %v", answer, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Within(gone, executor, "prompts/list", wait); !errors.Is(err, context.Canceled) {
			t.Errorf("after the user gave up: %v", err)
		}
	})
}
