// Package convert converts tool definitions and tool calls between the formats of providers. It is pure: JSON in, JSON
// out; it never changes its input and keeps the order of members. Every result lists its losses (see Loss).
//
// Conversions go through one canonical form, the MCP tool object (see Tool). Everything about a format is one record,
// in the file of its provider: where an element of its list has name, description and schema, what marks such an
// element, its rule for names, what the schema itself may contain, and the forms of tool calls and results. Other
// packages find the tools and run the calls.
package convert
