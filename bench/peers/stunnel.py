"""stunnel: TLS from the client, or to the origin; a thread for each connection."""

from labkit.recipe import Launch, Peer


class Stunnel(Peer):
    package = "stunnel4"
    program = "stunnel"
    families = ("tls-term", "tls-init")
    version_args = ("-version",)
    version_pattern = r"(?<=stunnel )[\d.]+"

    def launch(self, job):
        side = f"cert = {job.certificate}\nkey = {job.key}" if job.family == "tls-term" else "client = yes"
        config = f"""foreground = yes
pid =
syslog = no
debug = emerg
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
[lab]
accept = {job.listen}
connect = {job.origin}
{side}
sslVersionMin = TLSv1.2
TIMEOUTidle = 600
"""
        return Launch([self.binary, job.write("stunnel.conf", config)])
