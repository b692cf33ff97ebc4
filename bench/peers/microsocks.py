"""microsocks: SOCKS5, a thread for each client. It prints a line per connection, which goes to /dev/null."""

from labkit.recipe import Launch, Peer


class Microsocks(Peer):
    package = "microsocks"
    program = "microsocks"
    families = ("socks",)

    def launch(self, job):
        argv = [self.binary, "-i", job.listen.host, "-p", str(job.listen.port)]
        return Launch(["sh", "-c", 'exec "$@" > /dev/null 2>&1', "microsocks", *argv])

    def version(self):
        """It has no option for that; Debian knows."""
        return self.package_version()
