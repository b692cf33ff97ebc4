"""A proxy that accepts and hangs up, with a child that outlives it unless somebody cleans up."""

import sys

from labkit.recipe import Launch, Peer

PROGRAM = """
import os, socket, sys, time
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
if sys.argv[3] == "silent":
    time.sleep(600)
if sys.argv[3] == "absent":
    sys.exit("no licence")
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
while True:
    listener.accept()[0].close()
    if sys.argv[3] == "dies":
        time.sleep(0.1)
        sys.exit(1)
"""


class Fake(Peer):
    families = ("relay",)
    options = {"dies": "after its first connection", "absent": "does not start", "silent": "never listens"}

    def find(self):
        return sys.executable

    def launch(self, job):
        return Launch([self.binary, "-c", PROGRAM, job.listen.host, str(job.listen.port), *(self.chosen or ["works"])])
