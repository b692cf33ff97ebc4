"""Chromium, headless, loads a page with 200 resources and speaks to a WebSocket, through http, https and socks proxies.

The page's host name is known to the proxy's resolver only, so nothing can get there round the proxy.
"""

import asyncio
import os
import re
import signal
import ssl
import subprocess
import threading

import pytest
import websockets

from harness.client import authority
from harness.proxy import Proxy
from harness.timing import limit, wait_until
from programs.support import clean_environment, require

RESOURCES = 200

_PAGE = """<!doctype html><title>probe</title><body><script>
let left = {resources}, good = 0;
const images = new Promise(resolve => {{
  for (let n = 0; n < {resources}; n++) {{
    const image = new Image();
    const done = () => {{ if (image.naturalWidth === 7) good++; if (--left === 0) resolve(); }};
    image.onload = image.onerror = done;
    image.src = `r/${{n}}.svg`;
    document.body.append(image);
  }}
}});
const socket = new Promise(resolve => {{
  const ws = new WebSocket("{ws_url}");
  ws.onopen = () => ws.send("echo me");
  ws.onmessage = event => resolve(event.data === "echo me" ? "echoed" : "wrong");
  ws.onerror = () => resolve("error");
}});
const upload = fetch("/upload/from-browser", {{method: "PUT", body: "x".repeat(1e6)}}).then(r => r.status);
Promise.all([images, socket, upload]).then(([, ws, put]) => fetch(`report?images=${{good}}&ws=${{ws}}&put=${{put}}`));
</script>
"""


class WebSocketEcho:
    """An echoing WebSocket server in a thread of its own, over TLS if a certificate is given."""

    def __init__(self, certificate=None):
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate.cert, certificate.key)

    def __enter__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result(limit(5))
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'wss' if self._tls else 'ws'}://o.example.test:{port}/"
        return self

    async def _serve(self):
        async def echo(websocket):
            async for message in websocket:
                await websocket.send(message)
        return await websockets.serve(echo, "127.0.0.1", 0, ssl=self._tls)

    async def _close(self):
        self._server.close()
        await self._server.wait_closed()

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(limit(5))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


class Browser:
    """Chromium with a new profile, showing one page until the block ends."""

    def __init__(self, profile, proxy_url, page):
        self._errors = profile / "chromium.log"
        profile.mkdir(exist_ok=True)
        self._command = [
            require("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--ignore-certificate-errors", "--remote-debugging-port=0",
            f"--user-data-dir={profile}/data", f"--proxy-server={proxy_url}", "--proxy-bypass-list=<-loopback>", page]
        self._profile = profile

    def __enter__(self):
        environment = clean_environment(HOME=self._profile)
        with open(self._errors, "wb") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env=environment, start_new_session=True)
        return self

    def __exit__(self, *_):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)  # its own session: renderers and all
                self._process.wait(limit(5))
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    @property
    def errors(self):
        return self._errors.read_text(errors="replace")[-3000:]


@pytest.fixture(name="write_page")
def write_page_fixture(nginx):
    """Fills nginx's /page/ and returns a function that writes the page for a WebSocket's URL."""
    folder = nginx.root / "page"
    (folder / "r").mkdir(parents=True, exist_ok=True)
    for number in range(RESOURCES):
        (folder / "r" / f"{number}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><!--{"x" * number * 50}--></svg>')
    return lambda ws_url: (folder / "index.html").write_text(_PAGE.format(resources=RESOURCES, ws_url=ws_url))


@pytest.mark.parametrize("command, scheme", [("http", "http"), ("socks", "socks5"), ("mixed", "http"), ("http", "https")])
@pytest.mark.parametrize("tls", [False, True], ids=["http page", "https page"])
def test_page_with_200_resources(tmp_path, nginx, certificate, dns, write_page, command, scheme, tls):
    before = len(nginx.access_lines())

    def find_report():
        return next((line for line in nginx.access_lines()[before:] if "/page/report?" in line), None)
    own_tls = ("--tls-cert", certificate.cert, "--tls-key", certificate.key) if scheme == "https" else ()
    with Proxy(command, *own_tls, *dns.options(), access_log=True) as proxy, \
         WebSocketEcho(certificate if tls else None) as echo:
        write_page(echo.url)
        page = f"https://o.example.test:{nginx.tls_port}" if tls else f"http://o.example.test:{nginx.port}"
        with Browser(tmp_path / "profile", f"{scheme}://{authority(*proxy.address)}", f"{page}/page/") as browser:
            report = wait_until(find_report, 60, lambda: f"the page's report; {len(nginx.access_lines()) - before} "
                                f"requests came; {browser.errors}")
    lines = nginx.access_lines()[before:]
    loaded = {match.group(1) for line in lines if (match := re.search(r'"GET /page/r/(\d+)\.svg [^"]*" 200 ', line))}
    assert len(loaded) == RESOURCES
    assert re.search(rf"images={RESOURCES}&ws=echoed&put=20[14] ", report), report
    assert all(('via="1.1 headrace' in line) == (scheme != "socks5" and not tls) for line in lines)
