package words

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	for age, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago",
		119 * time.Minute: "1 hour ago", 50 * time.Hour: "2 days ago",
	} {
		if got := Ago(age); got != want {
			t.Errorf("%s is %q, want %q", age, got, want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"Name of the device. Case matters.": "Name of the device",
		"a value, e.g. this one.":           "a value, e.g. this one",
		"version 1.5 or later":              "version 1.5 or later",
		"two\nlines\n\nand more":            "two lines",
		"":                                  "",
	} {
		if got := FirstSentence(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "longe…"},
		{"zwölf", 3, "zw…"}, // ö is two bytes
		{"zwölf", 4, "zwö…"},
		{"\x80\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80…"}, // no character to keep whole
		{"all", -1, "all"},
		{"none", 0, "…"},
	} {
		if got := Clip(test.text, test.limit); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.text, test.limit, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"env", "envFile", "command", "level"}
	for name, want := range map[string]string{
		"evn":       "env", // two neighbours have changed places
		"comand":    "command",
		"env_file":  "envFile",
		"lvl":       "level",
		"somewhere": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ before, now, want string }{
		{"a b", "b c", "- a|  b|+ c"},
		{"", "a b", "+ a|+ b"},
		{"a b", "", "- a|- b"},
		{"a a b", "a b", "  a|- a|  b"}, // a line that is there twice
		{"a b c d", "a x c y d", "  a|- b|+ x|  c|+ y|  d"},
		{"a b", "b a", "- a|  b|+ a"},
	} {
		got := strings.Join(DiffLines(strings.Fields(test.before), strings.Fields(test.now)), "|")
		if got != test.want {
			t.Errorf("from %q to %q: %s, want %s", test.before, test.now, got, test.want)
		}
	}
	// Of lists that are too long to compare, everything between the first and the last difference is replaced.
	long := slices.Repeat([]string{"x"}, 3000)
	edits := Diff(slices.Concat([]string{"same", "a"}, long), slices.Concat([]string{"same"}, long, []string{"b"}))
	if len(edits) != 3 || len(edits[1].Texts) != 3001 || len(edits[2].Texts) != 3001 {
		t.Errorf("%d edits", len(edits))
	}
}
