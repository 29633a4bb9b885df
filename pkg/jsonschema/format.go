package jsonschema

import (
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// FormatProblem says what is wrong with text by its format, empty if nothing is or the format is unknown (RFC 3339 for
// times, RFC 3986 for URIs, RFC 5321 for addresses). Validation ignores formats, because servers disagree about them:
// this is for forms.
func FormatProblem(format, text string) string {
	switch format {
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "not a date, such as 2026-01-31"
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339Nano, strings.ToUpper(text)); err != nil {
			return "not a date and time, such as 2026-01-31T12:00:00Z"
		}
	case "time":
		if _, err := time.Parse("15:04:05.999999999Z07:00", strings.ToUpper(text)); err != nil {
			return "not a time, such as 12:00:00Z"
		}
	case "uri", "url", "iri":
		if parsed, err := url.Parse(text); err != nil || parsed.Scheme == "" || strings.ContainsAny(text, " \t\n") {
			return "not a URI, such as https://example.com"
		}
	case "email", "idn-email":
		if address, err := mail.ParseAddress(text); err != nil || address.Address != text {
			return "not an e-mail address, such as user@example.com"
		}
	case "uuid":
		if !isUUID(text) {
			return "not a UUID, such as 123e4567-e89b-42d3-a456-426614174000"
		}
	case "ipv4", "ipv6":
		if address, err := netip.ParseAddr(text); err != nil || address.Is4() != (format == "ipv4") {
			return "not an " + format + " address"
		}
	}
	return ""
}

func isUUID(text string) bool {
	groups := strings.Split(text, "-")
	if len(groups) != 5 {
		return false
	}
	for i, length := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != length || strings.Trim(strings.ToLower(groups[i]), "0123456789abcdef") != "" {
			return false
		}
	}
	return true
}
