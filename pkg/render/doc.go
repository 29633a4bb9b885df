// Package render turns values into bytes: results, lists of tools, errors, frames, progress. It is
// pure: it takes a writer and the facts about it (Screen), and never looks up anything itself.
//
// Text from a server is untrusted. Text for a screen goes through Safe or SafeBlock first and is
// styled, cut and wrapped afterwards; JSON for a file or a pipe stays byte-exact.
package render
