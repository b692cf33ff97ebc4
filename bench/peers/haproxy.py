"""haproxy: mode http with http-reuse always, mode tcp, TLS from the client and to the origin, splice() two ways."""

from labkit.recipe import Launch, Peer


class Haproxy(Peer):
    package = "haproxy"
    program = "haproxy"
    families = ("relay", "http", "tls-term", "tls-init")
    options = {
        "splice": "option splice-auto: splices a direction that fills buffers again and again",
        "splice-forced": "option splice-request and splice-response: splices whatever can be",
    }
    version_args = ("-v",)
    version_pattern = r"(?<=version )[\d.]+[\w.+~-]*"

    @property
    def splices(self):
        return bool(self.chosen)

    def serves(self, family):
        # Bytes that TLS takes through user space cannot be spliced.
        return family in self.families and not (self.splices and family.startswith("tls"))

    def launch(self, job):
        mode = "http" if job.family == "http" else "tcp"
        bind = f"bind {job.listen} backlog 65535"
        server = f"server origin {job.origin}"
        if job.family == "tls-term":
            bind += f" ssl crt {job.pem}"
        elif job.family == "tls-init":
            server += " ssl verify none"
        options = []
        if self.has("splice"):
            options += ["option splice-auto"]
        if self.has("splice-forced"):
            options += ["option splice-request", "option splice-response"]
        if mode == "http":
            options += ["http-reuse always"]
        defaults = "\n".join(f"    {line}" for line in options)
        # Each connection takes two descriptors, each pipe two more: it refuses to start if they cannot all be had.
        connections = max(min(job.connections + 256, (job.descriptors - 1000) // 2), 256)
        pipes = max(min(connections, (job.descriptors - 2 * connections - 400) // 2), 64)
        config = f"""global
    nbthread {job.workers}
    maxconn {connections}
    maxpipes {pipes}
defaults
    mode {mode}
    timeout connect 10s
    timeout client 600s
    timeout server 600s
    timeout http-keep-alive 600s
{defaults}
frontend clients
    {bind}
    default_backend origins
backend origins
    {server}
"""
        return Launch([self.binary, "-db", "-f", job.write("haproxy.cfg", config)])
