"""Rules on scores chosen by cross-fitting to do well on new rows."""
