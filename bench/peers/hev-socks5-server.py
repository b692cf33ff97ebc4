"""hev-socks5-server, by path: SOCKS5 on coroutines."""

from labkit.recipe import Launch, Peer


class HevSocks5Server(Peer):
    families = ("socks",)

    def find(self):
        return ""

    def launch(self, job):
        config = f"""main:
  workers: {job.workers}
  port: {job.listen.port}
  listen-address: '{job.listen.host}'
  bind-address: '0.0.0.0'
misc:
  log-level: error
  connect-timeout: 10000
  read-write-timeout: 600000
  limit-nofile: {job.descriptors}
"""
        return Launch([self.binary, job.write("main.yml", config)])
