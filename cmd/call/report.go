package call

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/junit"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// tests are the calls of a batch as tests, for --report and the summary.
type tests struct {
	file  *os.File // nil if no report is wanted
	suite junit.Suite
	times []float64 // milliseconds of the calls that were sent
}

// openTests opens the file of --report, so that one that cannot be written is an error before any server starts.
func openTests(report string) (*tests, error) {
	format, name, _ := strings.Cut(report, "=")
	if report == "" {
		return &tests{}, nil
	}
	if format != "junit" || name == "" {
		return nil, fault.Usage("--report "+strconv.Quote(report)+" is not junit=FILE", "--report junit=toolx.xml")
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, fault.Usage("--report: cannot write "+name+": "+fault.Reason(err), "name a file that you may write")
	}
	return &tests{file: file}, nil
}

// maxReportText is the most bytes of a failure in a report.
const maxReportText = 64 << 10

// add adds a call that was made. A result that is not as expected is a failure, any other problem an error.
func (t *tests) add(call *batchCall) {
	result := call.result
	if result.Timing != nil {
		t.times = append(t.times, result.Timing.CallMS)
	}
	if t.file == nil {
		return
	}
	name := rawjson.Unquote(call.id)
	if name == strconv.Itoa(call.number) {
		name = "line " + name
	}
	test := junit.Case{
		Class: render.Safe(result.ToolName), Name: render.Safe(name), Time: junit.Seconds(result.Duration.Seconds()),
	}
	if !call.passed {
		text := words.Clip(result.Err.Error(), maxReportText)
		kind := fault.KindOf(result.Err)
		outcome := &junit.Outcome{
			Message: render.Safe(words.FirstLine(text)), Type: string(kind), Text: render.SafeBlock(text),
		}
		if test.Error = outcome; kind == fault.KindTool {
			test.Failure, test.Error = outcome, nil
		}
	}
	t.suite.Add(test)
}

// write writes the report, if one is wanted. After an interruption, the report has a case that says so.
func (t *tests) write(took time.Duration, unmade int, interrupted bool) error {
	if t.file == nil {
		return nil
	}
	const name = "toolx call --batch"
	if interrupted {
		why := &junit.Outcome{Message: fmt.Sprintf("interrupted; %s not made", words.Count(unmade, "call"))}
		t.suite.Add(junit.Case{Class: name, Name: "other calls", Error: why})
	}
	t.suite.Name, t.suite.Time = name, junit.Seconds(took.Seconds())
	report := junit.Report{Totals: junit.Totals{Name: "toolx", Time: t.suite.Time}, Suites: []junit.Suite{t.suite}}
	if err := errors.Join(report.Write(t.file), t.file.Close()); err != nil {
		return fmt.Errorf("--report %s: %w", t.file.Name(), err)
	}
	return nil
}

// percentiles says how long calls took; empty for fewer than two.
func (t *tests) percentiles() string {
	if len(t.times) < 2 {
		return ""
	}
	slices.Sort(t.times)
	at := func(percent int) time.Duration {
		rank := (percent*len(t.times) + 99) / 100 // rounded up
		return time.Duration(t.times[rank-1] * float64(time.Millisecond)).Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p95 %s, p99 %s, max %s", at(50), at(95), at(99), at(100))
}
