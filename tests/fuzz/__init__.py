"""Random attacks, seeded and resumable: `make fuzz`, or a slice of it in `make test`.

A case is a number: the same one makes the same input, so that a failure is told in one line.
"""
