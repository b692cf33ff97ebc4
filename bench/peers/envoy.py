"""envoy, by path: http_connection_manager as the HTTP proxy, tcp_proxy as the relay, TLS transport sockets."""

import json

from labkit.recipe import Launch, Peer

TYPE = "type.googleapis.com/envoy.extensions."


class Envoy(Peer):
    families = ("relay", "http", "tls-term", "tls-init")
    version_pattern = r"(?<=/)\d+\.\d+\.\d+(?=/)"

    def find(self):
        return ""

    def launch(self, job):
        limits = {"max_connections": 1_000_000, "max_pending_requests": 1_000_000, "max_requests": 1_000_000}
        cluster = {
            "name": "origin", "type": "STATIC", "connect_timeout": "10s",
            "circuit_breakers": {"thresholds": [limits]},
            "load_assignment": {"cluster_name": "origin", "endpoints": [{"lb_endpoints": [
                {"endpoint": {"address": _address(job.origin)}}]}]},
        }
        chain = {"filters": [_http_filter() if job.family == "http" else _tcp_filter()]}
        if job.family == "tls-term":
            chain["transport_socket"] = _tls("DownstreamTlsContext", {"tls_certificates": [{
                "certificate_chain": {"filename": str(job.certificate)},
                "private_key": {"filename": str(job.key)}}]})
        elif job.family == "tls-init":
            cluster["transport_socket"] = _tls("UpstreamTlsContext", {})
        config = {"static_resources": {
            "listeners": [{"name": "clients", "address": _address(job.listen), "filter_chains": [chain],
                           "tcp_backlog_size": 65535}],
            "clusters": [cluster]}}
        return Launch([self.binary, "--concurrency", str(job.workers), "-l", "critical", "--disable-hot-restart",
                       "-c", job.write("envoy.json", json.dumps(config, indent=2))])


def _address(address):
    return {"socket_address": {"address": address.host, "port_value": address.port}}


def _tls(kind, common):
    return {"name": "envoy.transport_sockets.tls", "typed_config": {
        "@type": f"{TYPE}transport_sockets.tls.v3.{kind}", "common_tls_context": common}}


def _tcp_filter():
    return {"name": "envoy.filters.network.tcp_proxy", "typed_config": {
        "@type": f"{TYPE}filters.network.tcp_proxy.v3.TcpProxy", "stat_prefix": "lab", "cluster": "origin",
        "idle_timeout": "600s"}}


def _http_filter():
    router = {"name": "envoy.filters.http.router", "typed_config": {
        "@type": f"{TYPE}filters.http.router.v3.Router", "suppress_envoy_headers": True}}
    return {"name": "envoy.filters.network.http_connection_manager", "typed_config": {
        "@type": f"{TYPE}filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "lab", "generate_request_id": False, "http_filters": [router],
        "http_protocol_options": {"allow_absolute_url": True},
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
            {"match": {"prefix": "/"}, "route": {"cluster": "origin", "timeout": "0s"}}]}]}}}
