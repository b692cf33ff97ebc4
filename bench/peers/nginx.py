"""nginx: HTTP with kept upstream connections, stream relay, TLS from the client and to the origin."""

import re
import subprocess
from pathlib import Path

from labkit.recipe import Launch, Peer

MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
HALF_CLOSE_SINCE = (1, 21, 4)


class Nginx(Peer):
    package = "nginx libnginx-mod-stream"
    program = "nginx"
    families = ("relay", "http", "tls-term", "tls-init")
    options = {
        "ktls": "ask OpenSSL for kernel TLS",
        "nohalfclose": "relay with proxy_half_close off, nginx's default, which cuts answers short",
    }
    version_args = ("-v",)
    version_pattern = r"(?<=nginx/)[\d.]+"

    def problem(self):
        if self.has("ktls") and not Path("/proc/net/tls_stat").exists():
            return "this kernel has no TLS, so ktls would change nothing"
        return ""

    def serves(self, family):
        return family in self.families and (family.startswith("tls") or not self.has("ktls"))

    def launch(self, job):
        if job.family == "http":
            body = self._http(job)
        else:
            body = self._stream(job)
        config = f"""{self._modules()}daemon off;
user root;
worker_processes {job.workers};
worker_rlimit_nofile {job.descriptors};
pid {job.directory}/nginx.pid;
error_log stderr crit;
events {{
    worker_connections {min(2 * job.connections + 1024, job.descriptors)};
}}
{body}"""
        return Launch([self.binary, "-p", str(job.directory), "-e", "stderr", "-c", job.write("nginx.conf", config)])

    def _modules(self):
        """Distributions ship stream as a module; nginx's own packages have it built in."""
        built = subprocess.run([self.binary, "-V"], capture_output=True, text=True).stderr
        if re.search(r"--with-stream(?!=dynamic)\b(?!_)", built) or not MODULE.exists():
            return ""
        return f"load_module {MODULE};\n"

    def _http(self, job):
        return f"""http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    proxy_max_temp_file_size 0;
    client_body_temp_path {job.directory}/body;
    proxy_temp_path {job.directory}/proxy;
    fastcgi_temp_path {job.directory}/fastcgi;
    uwsgi_temp_path {job.directory}/uwsgi;
    scgi_temp_path {job.directory}/scgi;
    upstream origin {{
        server {job.origin};
        keepalive 1024;
        keepalive_requests 1000000000;
        keepalive_timeout 600s;
    }}
    server {{
        listen {job.listen} reuseport backlog=65535;
        location / {{
            proxy_pass http://origin;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
        }}
    }}
}}
"""

    def _stream(self, job):
        lines = []
        listen = f"listen {job.listen} reuseport backlog=65535"
        if job.family == "tls-term":
            listen += " ssl"
            lines += [f"ssl_certificate {job.certificate};", f"ssl_certificate_key {job.key};",
                      "ssl_protocols TLSv1.2 TLSv1.3;"]
            if self.has("ktls"):
                lines += ["ssl_conf_command Options KTLS;"]
        elif job.family == "tls-init":
            lines += ["proxy_ssl on;", "proxy_ssl_protocols TLSv1.2 TLSv1.3;"]
            if self.has("ktls"):
                lines += ["proxy_ssl_conf_command Options KTLS;"]
        if not self.has("nohalfclose") and self._version_numbers() >= HALF_CLOSE_SINCE:
            lines += ["proxy_half_close on;"]
        lines = [listen + ";", f"proxy_pass {job.origin};", "proxy_timeout 600s;"] + lines
        inside = "\n".join(f"        {line}" for line in lines)
        return f"stream {{\n    access_log off;\n    server {{\n{inside}\n    }}\n}}\n"

    def _version_numbers(self):
        return tuple(int(n) for n in re.findall(r"\d+", self.version())[:3])
