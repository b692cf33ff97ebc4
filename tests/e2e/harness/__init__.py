"""What the end-to-end tests are made of: the proxy under test, and the world around it.

proxy.py    starts the headrace binary and watches it from outside
origin.py   scripted upstreams: raw TCP, and HTTP by a callable
client.py   raw clients: segments, SOCKS, CONNECT, and a strict small HTTP response reader
tunnels.py  the same tunnel through each front end
dns.py      a name server that answers, stays silent, lies or fails as told
netns.py    network namespaces, for clients and origins that are not on loopback
tls_hello.py  first messages of TLS clients, real and wrong
proxy_header.py  PROXY protocol headers, right and wrong
swarm.py    thousands of connections from few processes
timing.py   deadlines and polling
logfmt.py   reads access-log lines back
"""
