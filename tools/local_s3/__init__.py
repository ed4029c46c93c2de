"""S3 servers on this machine: moto's with a request log and injected faults, and a read-only one that counts."""
