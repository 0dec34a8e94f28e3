"""Files of rows in any format, read in place."""
