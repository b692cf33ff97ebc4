"""No proxy: the proxy's side routes, and the client talks to the origin itself. What the ends can do at most."""

from labkit.recipe import Peer


class Direct(Peer):
    families = ("relay", "http", "tls-init", "tls-term")
    transparent = True

    def find(self):
        return "direct"

    def version(self):
        return ""
