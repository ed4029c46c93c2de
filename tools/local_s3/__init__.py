"""S3 on this machine: moto's server, recorded and made to fail, and a read-only server that counts requests."""
