"""The official MCP conformance suite against the product's own protocol glue."""
