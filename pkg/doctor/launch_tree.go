package doctor

// Process is one process of a server's tree.
type Process struct {
	PID, Parent int
	Command     []string // its arguments, the program first
}
