package procs

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// socketState is a state of a TCP socket as /proc/net/tcp has it (include/net/tcp_states.h of the kernel).
type socketState string

const (
	listening  socketState = "0A"
	connected  socketState = "01"
	connecting socketState = "02" // the other side has not answered yet
)

// Listening returns the addresses on which the processes of a tree accept TCP connections, each with the process that
// does: "127.0.0.1:3000 (pid 17)".
func Listening(tree []Process) []string { return sockets(tree, opened(tree), listening) }

// ListeningNear returns the addresses on which any process accepts TCP connections in the network of a process.
func ListeningNear(pid int) []netip.AddrPort {
	var found []netip.AddrPort
	for socket := range socketsNear(pid, listening) {
		found = append(found, socket.other)
	}
	return found
}

// opened returns the open files of the processes of a tree, each with the first process that has it.
func opened(tree []Process) map[string]int {
	owners := make(map[string]int)
	for _, process := range slices.Backward(tree) {
		for target := range OpenFiles(process.PID) {
			owners[target] = process.PID
		}
	}
	return owners
}

// sockets are the TCP sockets of the processes of a tree in a state, among what they have open: the addresses on which
// they listen, or those to which they connect, each with the process that does. What is connected to a port on which
// they listen came from the other side.
func sockets(tree []Process, owners map[string]int, state socketState) []string {
	if len(tree) == 0 || !slices.ContainsFunc(slices.Collect(maps.Keys(owners)), isSocket) {
		return nil // without a look at the system's tables: the kernel takes milliseconds for each
	}
	var found []string
	served := make(map[uint16]bool)
	if state == connected {
		for own := range socketsNear(tree[0].PID, listening) {
			served[own.other.Port()] = true
		}
	}
	for socket, inode := range socketsNear(tree[0].PID, state) {
		if owner := owners["socket:["+inode+"]"]; owner != 0 && !served[socket.own.Port()] {
			found = append(found, fmt.Sprintf("%s (pid %d)", socket.other, owner))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func isSocket(openFile string) bool { return strings.HasPrefix(openFile, "socket:[") }

// socket is a TCP socket: its own address, and the one that it is about, which is that of the other side, or its own if
// it listens.
type socket struct{ own, other netip.AddrPort }

// socketsNear yields the TCP sockets in a state in a process's network, and their inodes.
func socketsNear(pid int, state socketState) iter.Seq2[socket, string] {
	return func(yield func(socket, string) bool) {
		for _, name := range []string{"net/tcp", "net/tcp6"} {
			table, _ := os.ReadFile(Path(pid, name)) // a system without IPv6 has one of them
			for line := range strings.Lines(string(table)) {
				if found, inode, ok := socketOf(line, state); ok && !yield(found, inode) {
					return
				}
			}
		}
	}
}

// socketOf reads one line of /proc/net/tcp or tcp6; ok is false where it is no socket in that state.
func socketOf(text string, state socketState) (found socket, inode string, ok bool) {
	fields := strings.Fields(text)
	if len(fields) < 10 || fields[3] != string(state) {
		return socket{}, "", false
	}
	found.own, ok = addressOf(fields[1])
	if found.other = found.own; state != listening {
		found.other, ok = addressOf(fields[2])
	}
	return found, fields[9], ok
}

// addressOf reads an address as the kernel prints it: "0100007F:0BB8".
func addressOf(text string) (address netip.AddrPort, ok bool) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	number, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := raw; len(word) > 0; word = word[4:] {
		// The kernel prints each word as a number in its own order of bytes.
		binary.BigEndian.PutUint32(word, binary.NativeEndian.Uint32(word))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), ok
}
