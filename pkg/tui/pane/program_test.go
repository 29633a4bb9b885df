package pane

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// What users have in EDITOR and PAGER is run as git runs it: words, or a line for the shell.
func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
	dir := filepath.Join(t.TempDir(), "my editor")
	link := exec.Command("ln", "-s", "/bin/echo", dir)
	if err := link.Run(); err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string]string{
		"echo":                      "a b $x\n",
		"  echo  --wait ":           "--wait a b $x\n",
		`"` + dir + `" -w`:          "-w a b $x\n",
		"sh -c 'echo \"<$1>\"' --":  "<a b>\n",
		"MODE=1 echo":               "a b $x\n",
		"cat /dev/null; echo after": "after a b $x\n",
	} {
		words := Program(variable, "a b", "$x")
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s says %q, %v; want %q", variable, out, err, want)
		}
	}
	if words := Program(" \t"); words != nil {
		t.Errorf("nothing is %q", words)
	}
}
