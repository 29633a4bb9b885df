// Package convert converts tool definitions and tool calls between the formats of providers. It does no I/O, never
// changes its input, and keeps the order of members. Every result lists its losses (see Loss).
//
// Conversions go through the MCP tool object (see Tool). Everything about a format is one record in its provider's
// file: the layout of a tool, how to detect it, rules for names, the supported JSON Schema, and the formats of calls
// and results. Other packages find the tools and run the calls.
package convert
