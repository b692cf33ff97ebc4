"""Runs a command in which io_uring_setup(2) fails with EPERM, as containers' filters make it:

    without_io_uring.py COMMAND ARGUMENT...
"""

import ctypes
import os
import struct
import sys

IO_URING_SETUP = 425  # on every architecture
EPERM = 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
RETURN_ALLOW, RETURN_ERRNO = 0x7FFF0000, 0x00050000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06

FILTER = b"".join(struct.pack("HBBI", *instruction) for instruction in (
    (LOAD_WORD, 0, 0, 0),                      # the number of the system call
    (JUMP_IF_EQUAL, 0, 1, IO_URING_SETUP),
    (RETURN, 0, 0, RETURN_ERRNO | EPERM),
    (RETURN, 0, 0, RETURN_ALLOW),
))


class Program(ctypes.Structure):
    """struct sock_fprog"""
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def forbid():
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(FILTER) // 8, FILTER)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0):
        raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid()
    os.execvp(sys.argv[1], sys.argv[1:])
