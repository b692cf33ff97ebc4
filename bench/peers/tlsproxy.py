"""tlsproxy (novotimo), by path: TLS from the client. Without a log file it keeps no log."""

from labkit.recipe import Launch, Peer


class Tlsproxy(Peer):
    families = ("tls-term",)

    def find(self):
        return ""

    def launch(self, job):
        config = f"""nworkers: {job.workers}
listeners:
  - name: lab
    target-ip: {job.origin.host}
    target-port: {job.origin.port}
    connect-timeout: 10
    listen-ip: {job.listen.host}
    listen-port: {job.listen.port}
    cert-chain: {job.certificate}
    servkey: {job.key}
"""
        return Launch([self.binary, job.write("tlsproxy.yml", config)])
