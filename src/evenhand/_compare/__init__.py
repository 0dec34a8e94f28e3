"""Models side by side: who is more even, by how much more than chance, and by whose measure."""

from evenhand._compare.compare import compare
from evenhand._compare.comparison import Comparison

__all__ = ["Comparison", "compare"]
