"""The one exception that is meant for the user's eyes."""


class UserError(Exception):
    """Something the user can fix.

    The message is one clear line that names the file, row or key concerned and the remedy; scripts print it
    without a traceback (see :mod:`favor.running.jobs.job`).
    """
