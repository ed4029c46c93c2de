"""The tool's own gateway for one machine: HTTP on loopback, turned into the events the function takes."""
