"""dante: SOCKS without authentication, one server tree, no log."""

import shutil

from labkit.recipe import Launch, Peer


class Dante(Peer):
    package = "dante-server"
    program = "danted"
    families = ("socks",)
    version_args = ("-v",)
    version_pattern = r"(?<=v)\d+\.\d+\.\d+"

    def find(self):
        """Debian calls it danted, others sockd."""
        return super().find() or shutil.which("sockd") or ""

    def launch(self, job):
        config = f"""internal: {job.listen.host} port = {job.listen.port}
external: s1
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: root
client pass {{
    from: 0.0.0.0/0 to: 0.0.0.0/0
}}
socks pass {{
    from: 0.0.0.0/0 to: 0.0.0.0/0
}}
"""
        return Launch([self.binary, "-N", str(job.workers), "-p", str(job.directory / "sockd.pid"),
                       "-f", job.write("sockd.conf", config)])
