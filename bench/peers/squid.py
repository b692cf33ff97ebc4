"""squid: forward proxy and CONNECT; no cache, no logs, no Via. One process: squid's SMP workers share a disk cache.

half_closed_clients stays off: squid 5.7 ends with a failed assertion when many clients leave at once under it, the
HTTP mix has no client that half-closes, and tunnels are cut at a half-close either way. What it says goes to standard
error, so that the lab can tell why it died.
"""

from labkit.recipe import Launch, Peer


class Squid(Peer):
    package = "squid"
    program = "squid"
    families = ("http", "connect")
    version_pattern = r"(?<=Version )[\d.]+"

    def launch(self, job):
        config = f"""http_port {job.listen}
http_access allow all
cache deny all
cache_mem 8 MB
access_log none
cache_log /dev/stderr
cache_store_log none
via off
forwarded_for delete
half_closed_clients off
max_filedescriptors {job.descriptors}
client_idle_pconn_timeout 10 minutes
server_idle_pconn_timeout 10 minutes
pid_filename none
netdb_filename none
pinger_enable off
dns_nameservers 127.0.0.1
coredump_dir none
shutdown_lifetime 0 seconds
"""
        return Launch([self.binary, "-N", "-f", job.write("squid.conf", config)])
