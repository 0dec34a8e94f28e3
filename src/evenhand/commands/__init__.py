"""The commands of `evenhand`: each a function from arguments to an exit status."""
