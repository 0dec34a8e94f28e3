"""Rules on scores that do well on rows they were not fitted to, chosen by cross-fitting."""
