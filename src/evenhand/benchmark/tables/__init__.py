"""Results as tables, for a page, an article or a spreadsheet."""
