package servers

// groupAlive is false: closing the Job Object has ended what was in it.
func groupAlive(int) bool { return false }
