"""What lies where a unix socket is to be."""

import contextlib
import os
import socket
import stat
import subprocess

from harness.client import Client
from harness.proxy import Proxy, binary
from harness.timing import limit


def _refused_start(path):
    done = subprocess.run([binary(), "http", f"unix:{path}"], capture_output=True, text=True, timeout=limit(10),
                          check=False)
    assert done.returncode == 1
    assert str(path) in done.stderr
    return done.stderr


def test_a_file_of_somebody_is_left_alone(tmp_path):
    """A regular file refuses connections just as a socket does whose process is gone."""
    path = tmp_path / "notes"
    path.write_text("precious")
    _refused_start(path)
    assert path.read_text() == "precious"


def test_a_link_to_a_file_is_left_alone(tmp_path):
    path = tmp_path / "notes"
    path.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(path)
    _refused_start(link)
    assert link.is_symlink() and path.read_text() == "precious"


def test_the_reason_is_the_real_one(tmp_path):
    assert "No such file" in _refused_start(tmp_path / "nowhere" / "socket")


def test_a_socket_in_use_is_left_alone(tmp_path):
    path = tmp_path / "socket"
    with Proxy("http", listen=f"unix:{path}") as proxy:
        _refused_start(path)
        Client(proxy.address).close()


def test_an_abandoned_socket_is_replaced_and_goes_at_the_end(tmp_path):
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as abandoned:
        abandoned.bind(str(path))
    with Proxy("http", listen=f"unix:{path}") as proxy:
        Client(proxy.address).close()
        assert stat.S_ISSOCK(os.stat(path).st_mode)
    assert not path.exists()


def test_the_path_of_one_who_came_later_is_left_alone(tmp_path):
    """A successor over the same path would lose its socket when the predecessor, which drains, ends."""
    path = tmp_path / "socket"
    with contextlib.ExitStack() as stack:
        with Proxy("http", listen=f"unix:{path}"):
            path.unlink()
            later = stack.enter_context(Proxy("http", listen=f"unix:{path}"))
        assert path.exists()
        Client(later.address).close()
    assert not path.exists()
