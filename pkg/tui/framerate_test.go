package tui

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// recordedTicker notes the times between its ticks.
type recordedTicker struct{ periods []time.Duration }

func (r *recordedTicker) Reset(period time.Duration) { r.periods = append(r.periods, period) }

// TestFrameRate draws for a second, pauses, and draws once more.
func TestFrameRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := &recordedTicker{}
		rate := &frameRate{ticker: ticker}
		for range 20 {
			rate.drew(nil)
			time.Sleep(settleTime / 2)
		}
		time.Sleep(time.Second)
		rate.drew(nil)
		time.Sleep(time.Second)
		rate.mu.Lock()
		defer rate.mu.Unlock()
		got := slices.Compact(ticker.periods)
		want := []time.Duration{firstFrames, steadyFrames, idleFrames, firstFrames, idleFrames}
		if !slices.Equal(got, want) {
			t.Errorf("times between frames are %v, want %v", got, want)
		}
	})
}

// drawing is a program that quits when it has been drawn.
type drawing struct {
	program *tea.Program
	ticker  *time.Ticker
}

func (d *drawing) Init() tea.Cmd { return func() tea.Msg { return "drawn" } }

func (d *drawing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if msg == "drawn" {
		return d, tea.Quit
	}
	return d, nil
}

func (d *drawing) View() tea.View {
	d.ticker = tickerOf(d.program)
	return tea.NewView("")
}

// TestTickerOfBubbleTea fails when Bubble Tea keeps its ticker elsewhere: then nothing slows it down.
func TestTickerOfBubbleTea(t *testing.T) {
	d := &drawing{}
	d.program = tea.NewProgram(d, tea.WithInput(nil), tea.WithOutput(io.Discard))
	if _, err := d.program.Run(); err != nil {
		t.Fatal(err)
	}
	if d.ticker == nil {
		t.Error("the program has no ticker that could be found")
	}
}
