// Package convert converts tool definitions and tool calls between the formats of providers. It is pure: JSON in, JSON
// out; it never changes its input and keeps the order of members. Every result lists what was lost on the way (see
// Loss).
//
// Between two shapes stands one canonical form, the MCP tool object (see Tool). All that is known of a format is one
// record, in the file of its provider: where an element of its list keeps name, description and schema, what marks such
// an element, its rule for names, what the schema itself may say, and the forms of tool calls and results. Other
// packages find the tools and run the calls.
package convert
