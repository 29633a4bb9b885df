package words

import "unicode"

// Invisible reports whether r is invisible or changes the display of its neighbours. Number signs of Arabic and its
// relatives are format characters by category only: they are visible.
func Invisible(r rune) bool {
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// IsTag reports whether r is a tag character: an invisible copy of ASCII.
func IsTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }
