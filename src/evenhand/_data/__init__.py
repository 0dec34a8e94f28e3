"""The data: rows, tables, counts, surveys and models, as the counts that statistics need."""
