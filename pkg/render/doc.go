// Package render turns values into bytes: results, lists of tools, errors, frames,
// progress. It is pure: it takes a writer and the facts about it (Screen), and
// never finds anything out for itself.
//
// Text from a server is untrusted. Whatever goes to a screen goes through Safe or
// SafeBlock first and is styled, cut and wrapped after that; what goes to a file or
// a pipe as JSON stays byte-exact.
package render
