// Package systems has what users of Windows type, as tests for Windows, and the scripts that run these and all other
// tests on other systems: make test-windows under Wine, make test-arm64 by QEMU.
package systems
