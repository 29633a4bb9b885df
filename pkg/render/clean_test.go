package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain text", "naïve – “Grüße” 日本語 \\ {x}", "naïve – “Grüße” 日本語 \\ {x}"},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"window title", "\x1b]0;pwned\a", `\x1b]0;pwned\x07`},
		{"clear screen by C1", "a\u009b2Jb", `a\u{9b}2Jb`},
		{"lines in one line", "a\nb\tc\rd\r\n", `a\nb\tc\rd\r\n`},
		{"NUL, backspace, DEL", "a\x00\bb\x7f", `a\x00\x08b\x7f`},
		{"invalid UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"raw C1 byte is invalid UTF-8", "\x9b2J", `\x9b2J`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"bidi override", "file\u202egnp.exe", `file\u{202e}gnp.exe`},
		{"bidi isolates", "\u2066a\u2069\u200e\u200f\u061c", `\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}`},
		{"zero width", "a\u200bb\u2060c\ufeffd\u00ade", `a\u{200b}b\u{2060}c\u{feff}d\u{ad}e`},
		{"separators", "a\u2028b\u2029c", `a\u{2028}b\u{2029}c`},
		{"tags", "hi\U000e0068\U000e0069\U000e007f!", `hi\tags{hi\u{e007f}}!`},
		{"interlinear annotation", "\ufff9a\ufffab\ufffb", `\u{fff9}a\u{fffa}b\u{fffb}`},
		{"variation selectors supplement", "a\U000e0100\U000e0101", `a\u{e0100}\u{e0101}`},
		{"Hangul filler", "a\u3164b\u115f", `a\u{3164}b\u{115f}`},
		{"noncharacter", "\uffff", `\u{ffff}`},
		{"private use stays", "\ue0b0 \uf8ff", "\ue0b0 \uf8ff"},
		{"family emoji", "👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"},
		{"emoji with skin tone", "👩🏽‍🚀", "👩🏽‍🚀"},
		{"emoji with selector", "❤️‍🔥 🧔‍♂️ 🙂‍↔️", "❤️‍🔥 🧔‍♂️ 🙂‍↔️"},
		{"keycap", "1️⃣", "1️⃣"},
		{"joiner between letters", "pass\u200dword", `pass\u{200d}word`},
		{"joiner at the end", "👩\u200d", `👩\u{200d}`},
		{"two joiners", "👩\u200d\u200d👩", `👩\u{200d}\u{200d}👩`},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Malayalam chillu", "അവന്\u200d", "അവന്\u200d"},
		{"ZWNJ between Latin letters", "a\u200cb", `a\u{200c}b`},
		{"Arabic number sign", "\u0600١٢", "\u0600١٢"},
		{"selector after a letter", "a\ufe0f", `a\u{fe0f}`},
		{"two selectors", "☺\ufe0f\ufe0f", "☺\ufe0f" + `\u{fe0f}`},
		{"accents", "e\u0301\u0323", "e\u0301\u0323"},
		{"too many accents", "e" + strings.Repeat("\u0301", 9), "e" + strings.Repeat("\u0301", 8) + `\u{301}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Safe(tt.in); got != tt.want {
				t.Errorf("Safe(%+q)\n got %+q\nwant %+q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSafeBlock(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\n\tb\n", "a\n\tb\n"},
		{"a\r\nb\r\n", "a\nb\n"},
		{"50%\r99%", `50%\r99%`},
		{"a\r\r\nb", "a\\r\nb"},
		{"a\vb\fc", `a\x0bb\x0cc`},
		{"a\u2028b", `a\u{2028}b`},
	}
	for _, tt := range tests {
		if got := SafeBlock(tt.in); got != tt.want {
			t.Errorf("SafeBlock(%+q) = %+q, want %+q", tt.in, got, tt.want)
		}
	}
}

func TestSafeTextIsNotCopied(t *testing.T) {
	text := strings.Repeat("plain text, naïve\n", 1000)
	if n := testing.AllocsPerRun(10, func() { SafeBlock(text) }); n != 0 {
		t.Errorf("%v allocations for text that is safe already", n)
	}
}

// FuzzSafe holds what any screen relies on. Its own judgement of a rune is by
// number, so that it does not repeat the code under test.
func FuzzSafe(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b[2J", "a\u202eb", "👩‍👩‍👧", "می\u200cخواهم", "\xff\xc3(", "\r\n\r", "\U000e0041\U000e007f",
		"e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "\u115f\u1160\u3164\uffa0", "☺\ufe0f\u200d♂",
		"👩\u200d\xf0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, variant := range []struct {
			name  string
			clean func(string) string
			block bool
		}{{"Safe", Safe, false}, {"SafeBlock", SafeBlock, true}} {
			out := variant.clean(in)
			if !utf8.ValidString(out) {
				t.Fatalf("%s(%+q) is not UTF-8: %+q", variant.name, in, out)
			}
			if i := strings.IndexFunc(out, func(r rune) bool { return forbidden(r, variant.block) }); i >= 0 {
				t.Fatalf("%s(%+q) lets something through at %d: %+q", variant.name, in, i, out)
			}
			if again := variant.clean(out); again != out {
				t.Fatalf("%s(%+q) is not idempotent: %+q, then %+q", variant.name, in, out, again)
			}
			if len(out) > 12*len(in) {
				t.Fatalf("%s makes %d bytes of %d", variant.name, len(out), len(in))
			}
			checkJoiners(t, out)
		}
	})
}

func forbidden(r rune, block bool) bool {
	switch {
	case r == '\n' || r == '\t':
		return !block
	case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0xad, r == 0x61c, r == 0x180e, r == 0x3164,
		r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r >= 0xfe00 && r <= 0xfe0d, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// checkJoiners makes sure that a joiner that is left has neighbours that need one.
func checkJoiners(t *testing.T, out string) {
	t.Helper()
	runes := []rune(out)
	for i, r := range runes {
		if r != 0x200c && r != 0x200d {
			continue
		}
		if i == 0 || runes[i-1] <= 0x7f ||
			unicode.In(runes[i-1], unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han) {
			t.Fatalf("joiner at %d of %+q joins nothing", i, out)
		}
	}
}
