// Package convert converts tool definitions and tool calls between the formats of providers. It is pure: JSON in, JSON
// out; it never changes its input and keeps the order of members. Every result lists what was lost on the way (see
// Loss).
//
// Between two shapes stands one canonical form, the MCP tool object (see Tool). A format is a row in a few tables:
// where an element of its list keeps name, description and schema, what marks such an element, and its rule for names
// (see dialectOf); what the schema itself may say (see profileOf); the shapes of tool calls (see callShapes) and of
// results (see resultForms). Other packages find the tools and run the calls.
package convert
