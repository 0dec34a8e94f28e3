"""One number for each method, ranks over problems, and which methods differ by more than noise."""
