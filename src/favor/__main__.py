"""The command ``favor``. Ctrl-C while its modules are imported ends it without a traceback."""

import signal


def main() -> None:
    """Import the command and run it."""
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:  # not where Ctrl-C is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from favor.cli import main as run  # Here, because it loads what all commands need.

    run()


if __name__ == "__main__":
    main()
