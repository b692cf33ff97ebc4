"""reference: ../reference, a bare relay over epoll, one thread. What the kernel's part costs at the least.

    reference               copies through one buffer
    reference::splice       splices bulk
"""

from labkit import build
from labkit.recipe import Launch, Peer


class Reference(Peer):
    families = ("relay",)
    options = {"splice": "splices bulk"}

    @property
    def splices(self):
        return self.has("splice")

    def find(self):
        return build.built_bench_program("headrace-reference")

    def launch(self, job):
        return Launch([self.binary, "--listen", str(job.listen), "--to", str(job.origin),
                       *(f"--{option}" for option in self.chosen)])

    def version(self):
        return ""
