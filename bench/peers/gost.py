"""gost, by path: HTTP, CONNECT, SOCKS5, relay, TLS from the client (versions 2 and 3 take the same words)."""

from labkit.recipe import Launch, Peer


class Gost(Peer):
    families = ("relay", "http", "connect", "socks", "tls-term")
    version_args = ("-V",)

    def find(self):
        return ""

    def launch(self, job):
        if job.family in ("http", "connect"):
            where = f"http://{job.listen}"
        elif job.family == "socks":
            where = f"socks5://{job.listen}"
        elif job.family == "relay":
            where = f"tcp://{job.listen}/{job.origin}"
        else:
            where = f"tls://{job.listen}/{job.origin}?cert={job.certificate}&key={job.key}" \
                    f"&certFile={job.certificate}&keyFile={job.key}"
        return Launch([self.binary, "-L", where], env={"GOMAXPROCS": str(job.workers), "GOST_LOGGER_LEVEL": "fatal"})
