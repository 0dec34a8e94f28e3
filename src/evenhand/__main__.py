"""`python -m evenhand` is the command `evenhand`, where no script is on the path."""

from evenhand.cli import main

if __name__ == "__main__":
    main()
