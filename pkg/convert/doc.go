// Package convert turns tool definitions and tool calls from one provider's shape
// into another's. Everything in it is pure: JSON in, JSON out, the input never
// changed, members kept in their order. What was lost on the way is part of every
// answer (see Loss).
//
// Between two shapes stands one canonical form, the MCP tool object (see Tool): a
// format needs a reader and a writer, in a file of its own, and never knows of the
// others. Where tools come from and who runs calls is other packages' business.
package convert
