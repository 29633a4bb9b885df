package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// row is one line of the table: a command and how it compares with its floor, which ran in turns with it.
type row struct {
	Name string `json:"name"`
	// Wall and CPU are multiples of the floor's, Memory is the peak in MiB; zero if unknown.
	Wall   float64 `json:"wall"`
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory,omitempty"`

	floor        string
	milliseconds float64
}

// baseline has the rows of an earlier commit.
type baseline struct {
	Commit string `json:"commit"`
	Rows   []row  `json:"rows"`
}

// worse is how many times the baseline's ratio a ratio must be to fail: machines differ, ratios less so.
const worse = 1.5

var baselinePath = filepath.Join("bench", "baseline.json")

func readBaseline() (baseline, error) {
	var known baseline
	text, err := os.ReadFile(baselinePath)
	if err != nil {
		return known, err
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return known, fmt.Errorf("%s: %w", baselinePath, err)
	}
	return known, nil
}

func (known baseline) row(name string) (row, bool) {
	for _, r := range known.Rows {
		if r.Name == name {
			return r, true
		}
	}
	return row{}, false
}

func (known baseline) write() error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(baselinePath, append(text, '\n'), 0o644) //nolint:gosec // source
}

const columns = "%-30s %-14s %9s %8s %8s %10s   %s\n"

// printTable writes the table, and returns what has become worse.
func printTable(rows []row, known baseline) (failures []string) {
	fmt.Printf("\n"+columns, "", "floor", "ms", "wall", "cpu", "peak MiB", "wall, cpu at "+known.Commit)
	for _, r := range rows {
		memory, before := "", ""
		if r.Memory > 0 {
			memory = fmt.Sprintf("%.1f", r.Memory)
		}
		if was, found := known.row(r.Name); found {
			before = fmt.Sprintf("%.2f, %.2f", was.Wall, was.CPU)
			if r.Wall > worse*was.Wall && r.CPU > worse*was.CPU {
				failures = append(failures, fmt.Sprintf("%s: %.2f times the floor, %.2f at %s",
					r.Name, r.Wall, was.Wall, known.Commit))
				before += "  worse"
			}
		}
		line := fmt.Sprintf(columns, r.Name, r.floor, fmt.Sprintf("%.2f", r.milliseconds), fmt.Sprintf("%.2f", r.Wall),
			fmt.Sprintf("%.2f", r.CPU), memory, before)
		fmt.Println(strings.TrimRight(line, " \n"))
	}
	return failures
}
