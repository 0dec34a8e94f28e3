"""Models side by side: who is more even, by how much more than chance, and by whose measure."""

from evenhand.comparing.compare import compare
from evenhand.comparing.comparison import Comparison

__all__ = ["Comparison", "compare"]
