package words

import "testing"

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
