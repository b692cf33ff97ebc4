"""What the lab says when it cannot go on."""


class LabError(Exception):
    """A reason the user can act on; printed without a traceback, exit status 1."""
