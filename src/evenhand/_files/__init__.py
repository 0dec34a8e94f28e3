"""Files of rows in any format, read where they lie."""
