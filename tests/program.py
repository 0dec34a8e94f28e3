"""The command `evenhand` as one types it, for click's runner: `CliRunner().invoke(EVENHAND, …)`."""

from evenhand.cli import main


class Program:
    """What the runner takes for a command; it knows the arguments alone."""

    name = "evenhand"

    def main(self, args, prog_name):
        main(args)


EVENHAND = Program()
