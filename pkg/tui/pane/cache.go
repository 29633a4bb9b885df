package pane

// Cache keeps lines that take long to lay out for as long as what they are made from, the width and
// the theme are the same. The zero value is empty.
type Cache[K comparable] struct {
	lines   []string
	key     K
	width   int
	version int // of the theme, from 1
}

// Lines returns the kept lines, or those of lay.
func (c *Cache[K]) Lines(theme *Theme, key K, width int, lay func() []string) []string {
	if version := theme.version + 1; c.key != key || c.width != width || c.version != version {
		*c = Cache[K]{lay(), key, width, version}
	}
	return c.lines
}

// Forget drops the kept lines.
func (c *Cache[K]) Forget() { *c = Cache[K]{} }
