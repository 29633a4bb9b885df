//go:build unix && !linux

package attack_test

// rssUnit is the unit of Rusage.Maxrss in bytes, on macOS.
const rssUnit = 1
