package process_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/procs"
)

// TestOrphans shows that what outlives a server is found, in its group and out of
// it, and is gone afterwards.
func TestOrphans(t *testing.T) {
	for _, mode := range []string{"grandchild", "grandchild-setsid"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), mode, "--pids", pids),
				doctor.Selection{})
			found := doctortest.Findings(t, report, "orphan-grandchild")
			if len(found) == 0 {
				t.Fatal("no orphan was found")
			}
			if notes := strings.Join(found[0].Notes, "; "); !strings.Contains(notes, "stderr and stdout open") {
				t.Errorf("the notes are %q, want the pipes that it holds", notes)
			}
			text, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for field := range strings.FieldsSeq(string(text)) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				if stat, ok := procs.ReadStat(pid); ok && stat.State != "Z" {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}
