"""hitch: TLS from the client, made for nothing else."""

from labkit.recipe import Launch, Peer


class Hitch(Peer):
    package = "hitch"
    program = "hitch"
    families = ("tls-term",)
    version_args = ("-V",)
    version_pattern = r"(?<=hitch )[\d.]+"

    def launch(self, job):
        config = f"""frontend = "[{job.listen.host}]:{job.listen.port}"
backend = "[{job.origin.host}]:{job.origin.port}"
pem-file = "{job.pem}"
tls-protos = TLSv1.2 TLSv1.3
workers = {job.workers}
backlog = 65535
quiet = on
log-level = 0
daemon = off
user = "root"
"""
        return Launch([self.binary, "--config=" + job.write("hitch.conf", config)])
