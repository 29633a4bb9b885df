package builtin

import (
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, test := range []struct{ glob, matches, not string }{
		{"*.o", "a.o d/a.o", "a.c a.o/b"},
		{"/a", "a", "d/a"},
		{"a/*.c", "a/x.c", "a/b/x.c"},
		{"**/x", "x a/x a/b/x", "y xx"},
		{"a/**", "a/x a/b/x", "b/a a"},
		{"a/**/z", "a/z a/b/z a/b/c/z", "z a/bz"},
		{"?.c", "a.c", "ab.c .c"},
		{"[ab]1", "a1", "c1"},
		{"[!ab]2", "c2", "a2"},
		{"[^ab]3", "c3", "b3"},
		{"[]x]6", "]6 x6", "y6"},
		{"[a-]7", "-7 a7", "b7"},
		{"a[!x]c", "abc", "a/c"},
		{"[[]", "[", "]"},
		{`\*c`, "*c", "xc"},
		{`d\?`, "d?", "dx"},
		{`\{a,b}`, "{a,b}", "a b"},
		{"{a,b}.{c,d}", "a.c b.d", "a.e c.d"},
		{"{a,{b,c}d}", "a bd cd", "b d"},
		{"x{,y}", "x xy", "y"},
		{"a+b", "a+b", "aab"},
		{"(c)", "(c)", "c"},
		{"d.e", "d.e", "dxe"},
		{"a,b}", "a,b}", "a"},
		{"é*", "éa", "ea"},
	} {
		globs, err := compileGlobs([]string{test.glob})
		if err != nil {
			t.Errorf("%s: %v", test.glob, err)
			continue
		}
		for name := range strings.FieldsSeq(test.matches) {
			if !globs[0].matches(name) {
				t.Errorf("%s does not match %s", test.glob, name)
			}
		}
		for name := range strings.FieldsSeq(test.not) {
			if globs[0].matches(name) {
				t.Errorf("%s matches %s", test.glob, name)
			}
		}
	}
}

// Any glob compiles or is refused, and never panics or hangs.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{
		"*.go", "a/**/b", "[!a-z]", "[[:alpha:]]", "[]-a]", "\\", "{a,b}", "[z-a]", "[\\]]", "é?", "a[", "[a-\\",
		"**", "***/", "[[:alpha::]]]]", "[[:]", "[[:a]", "{", "}{", "{{{,", "(?i)[",
	} {
		f.Add(seed, "a/b/c.go")
	}
	f.Fuzz(func(t *testing.T, glob, path string) {
		pattern, err := globRegexp(glob)
		if err != nil {
			return
		}
		pattern.MatchString(path)
		if !strings.ContainsAny(glob, `*?[\{`) && !pattern.MatchString(glob) {
			t.Errorf("%q does not match itself", glob)
		}
	})
}
