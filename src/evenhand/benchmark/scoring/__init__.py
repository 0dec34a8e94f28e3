"""From stored predictions to a table of scores."""
