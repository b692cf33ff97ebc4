"""tinyproxy: forward proxy and CONNECT; a thread for each connection, critical messages only."""

from labkit.recipe import Launch, Peer


class Tinyproxy(Peer):
    package = "tinyproxy-bin"
    program = "tinyproxy"
    families = ("http", "connect")
    version_args = ("-v",)

    def launch(self, job):
        config = f"""Port {job.listen.port}
Listen {job.listen.host}
Timeout 600
MaxClients {job.connections + 512}
LogLevel Critical
DisableViaHeader Yes
"""
        return Launch([self.binary, "-d", "-c", job.write("tinyproxy.conf", config)])
