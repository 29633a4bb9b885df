// Package convert turns tool definitions and tool calls from one provider's shape
// into another's. Everything in it is pure: JSON in, JSON out, the input never
// changed, members kept in their order. What was lost on the way is part of every
// answer (see Loss).
//
// Between two shapes stands one canonical form, the MCP tool object (see Tool). A
// format has a file of its own, with its dialect: where an element of its list keeps
// name, description and schema (its layout), what marks such an element, and its rule
// for names. What the schema itself may say is a table beside that (see profile), as
// are the shapes of tool calls (see callShape). Where tools come from and who runs
// calls is other packages' business.
package convert
