package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/state"
)

// keptTask is what toolx keeps of a task that nobody waits for, so that another process finds it again. Its texts but
// the first are the server's, or name the server.
type keptTask struct {
	ID       string             `json:"id"`      // toolx's own
	Task     string             `json:"task_id"` // the server's
	Server   string             `json:"server"`
	Tool     string             `json:"tool"`
	Status   servers.TaskStatus `json:"status"`
	Message  string             `json:"message,omitempty"`
	Begun    time.Time          `json:"begun"`
	TTLMS    int64              `json:"ttl_ms,omitempty"` // for how long the server keeps it; 0: nobody knows
	Identity string             `json:"identity,omitempty"`
	URL      string             `json:"url,omitempty"` // of a server of the command line
}

// The bounds on what is kept of tasks.
const (
	maxTaskFile  = 64 << 10
	taskKeptTime = 30 * 24 * time.Hour // where the server says nothing, or more
)

// taskID returns toolx's own id of a task: short, safe to type, and the same each time.
func taskID(identity, task string) string {
	sum := sha256.Sum256([]byte(identity + "\x00" + task))
	return hex.EncodeToString(sum[:4])
}

// update notes what the server says of the task.
func (k *keptTask) update(task *servers.Task) {
	k.Status, k.Message, k.TTLMS = task.Status, task.Message, task.TTL.Milliseconds()
}

// over reports whether the server keeps the task no longer.
func (k *keptTask) over(now time.Time) bool {
	keeps := taskKeptTime
	if k.TTLMS > 0 {
		keeps = min(keeps, time.Duration(k.TTLMS)*time.Millisecond)
	}
	return now.Sub(k.Begun) > keeps
}

func taskFile(id string) string { return filepath.Join(stateFile("tasks"), id+".json") }

// keepTask writes what is kept of a task.
func keepTask(task *keptTask) error {
	if stateFile("tasks") == "" {
		return errors.New("no home directory; set HOME or XDG_STATE_HOME")
	}
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	return state.Replace(taskFile(task.ID), append(text, '\n'))
}

// forgetTask removes what is kept of a task.
func forgetTask(id string) { _ = os.Remove(taskFile(id)) } // it may be gone

// keptTasks returns the tasks that are kept, the oldest first, and forgets those whose time is over. Files that cannot
// be read are none.
func keptTasks() []*keptTask {
	entries, _ := os.ReadDir(stateFile("tasks"))
	var tasks []*keptTask
	for _, entry := range entries {
		id, isTask := strings.CutSuffix(entry.Name(), ".json")
		if !isTask {
			continue
		}
		text, err := state.Read(taskFile(id), maxTaskFile)
		task := new(keptTask)
		if err != nil || json.Unmarshal(text, task) != nil || task.ID != id || task.Task == "" {
			continue
		}
		if task.over(time.Now()) {
			forgetTask(id)
			continue
		}
		tasks = append(tasks, task)
	}
	slices.SortStableFunc(tasks, func(a, b *keptTask) int { return a.Begun.Compare(b.Begun) })
	return tasks
}

// keptTaskNamed returns the task of an id: toolx's own, the beginning of one, or the server's.
func keptTaskNamed(id string) (*keptTask, error) {
	var found []*keptTask
	for _, task := range keptTasks() {
		if task.ID == id {
			return task, nil
		}
		if strings.HasPrefix(task.ID, id) || task.Task == id {
			found = append(found, task)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fault.Usage("no task is named "+quote(id), "toolx tasks list shows those that are kept")
	}
	return nil, fault.Usage("several tasks are named "+quote(id), "give the whole id; toolx tasks list shows it")
}
