"""The server: from a gateway event to the answer of the `search_knowledge` tool."""
