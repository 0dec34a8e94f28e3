"""What a benchmark is to do, written out as values."""
