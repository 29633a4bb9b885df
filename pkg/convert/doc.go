// Package convert converts tool definitions and tool calls between the formats of providers. It is pure: JSON in, JSON
// out; it never changes its input and keeps the order of members. Every result lists what was lost on the way (see
// Loss).
//
// Between two shapes stands one canonical form, the MCP tool object (see Tool). A format has a file of its own, with
// its dialect: where an element of its list keeps name, description and schema (its layout), what marks such an
// element, and its rule for names. What the schema itself may say is a table beside that (see profile), as are the
// shapes of tool calls (see callShape). Other packages find the tools and run the calls.
package convert
