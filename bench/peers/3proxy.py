"""3proxy, by path: relay (tcppm), HTTP, CONNECT, SOCKS, TLS both ways.

    3proxy:/path/3proxy:label=devel:-s0          copying
    3proxy:/path/3proxy:label=devel:ktls         kernel TLS
    3proxy:/path/3proxy:label=1.0.1:-ocTCP_NODELAY:-osTCP_NODELAY

An option that begins with a dash goes to the service as it is.
"""

from labkit.recipe import Launch, Peer

SERVICES = {"relay": "tcppm", "tls-term": "tcppm", "tls-init": "tcppm", "http": "proxy", "connect": "proxy",
            "socks": "socks"}


class ThreeProxy(Peer):
    families = ("relay", "http", "connect", "socks", "tls-term", "tls-init")
    options = {
        "ktls": "ssl_ktls: hand TLS to the kernel",
        "copying": "this build has no splice(): counted among the copying proxies",
        "-...": "any option of the service, such as -s0 or -g8000,2,2",
    }
    version_pattern = r"3proxy-?[\d.]+\S*|\d+\.\d+[\w.]*"

    def accepts(self, option):
        return option.startswith("-") or option in ("ktls", "copying")

    @property
    def splices(self):
        return not any(self.has(option) for option in ("copying", "-s0"))

    @property
    def name(self):
        """The reference's names: every option behind a dash."""
        shown = [o.lstrip("-") for o in self.chosen if o != "copying"]
        return "-".join(filter(None, [self.kind, self.label, *shown]))

    def find(self):
        return ""

    def launch(self, job):
        lines = [f"maxconn {job.connections + 512}", "auth none"]
        if job.family == "tls-term":
            lines += [f"ssl_server_cert {job.certificate}", f"ssl_server_key {job.key}", "ssl_serv"]
        elif job.family == "tls-init":
            lines += ["ssl_cli"]
        if self.has("ktls"):
            lines.insert(2, "ssl_ktls")
        service = SERVICES[job.family]
        options = " ".join(o for o in self.chosen if o.startswith("-"))
        words = f"{service} {options} -i{job.listen.host}".replace("  ", " ")
        if service == "tcppm":
            lines += [f"{words} {job.listen.port} {job.origin.host} {job.origin.port}"]
        else:
            lines += [f"{words} -p{job.listen.port}"]
        return Launch([self.binary, job.write("3proxy.cfg", "\n".join(lines) + "\n")])
