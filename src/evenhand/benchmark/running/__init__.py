"""From a design to stored predictions: base models and methods are fitted in parallel."""
