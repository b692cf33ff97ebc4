#!/usr/bin/env python3
"""Writes heads.txt: the heads that corpus_test.cc gives to our parser and to libhttp_parser.

One head per line: a name, "request" or "response", and the bytes with C escapes. Run it after a change
here, and keep what it wrote: `make_heads.py > heads.txt`.
"""

import sys

HEADS = {}


def add(name, kind, head):
    data = head if isinstance(head, bytes) else head.encode("latin-1")
    if name in HEADS:
        sys.exit(f"two heads are called {name}")
    HEADS[name] = (kind, data)


def request(name, lines="", start="GET http://o.test/p HTTP/1.1", host="Host: o.test\r\n"):
    add(name, "request", start + "\r\n" + host + lines + "\r\n")


def response(name, lines="", start="HTTP/1.1 200 OK"):
    add(name, "response", start + "\r\n" + lines + "\r\n")


def both(name, lines):
    request("request_" + name, lines, start="POST http://o.test/p HTTP/1.1")
    response("response_" + name, lines)


# Bytes on which parsers tend to disagree.
BYTES = [*range(0x00, 0x21), *b'"(),/:;<=>?@[\\]{}', 0x7f, 0x80, 0xa0, 0xff]


def start_lines():
    known = """DELETE GET HEAD POST PUT OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH
        UNLOCK BIND REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE
        UNSUBSCRIBE PATCH PURGE MKCALENDAR LINK UNLINK SOURCE"""
    for method in known.split():
        request(f"method_{method}", start=f"{method} http://o.test/ HTTP/1.1")
    request("method_CONNECT", start="CONNECT o.test:443 HTTP/1.1", host="Host: o.test:443\r\n")
    for name, method in {"unknown": "FOO", "lower_case": "get", "longer": "GETX", "cut": "GE",
                         "empty": "", "of_signs": "!#$%&'*+-.^_`|~", "with_bracket": "GE(T",
                         "with_obs_text": "G\xc4T"}.items():
        request(f"method_{name}", start=f"{method} http://o.test/ HTTP/1.1")

    targets = {
        "origin": "/", "origin_query": "/a/b?c=d&e", "absolute": "http://o.test/a?b",
        "absolute_port": "http://o.test:8080/", "absolute_no_path": "http://o.test",
        "absolute_v6": "http://[2001:db8::1]:80/", "absolute_upper": "HTTP://O.TEST/",
        "https": "https://o.test/", "userinfo": "http://u:p@o.test/", "asterisk": "*",
        "raw_quote": "/\"x\"|y", "raw_braces": "/{a}^`<b>", "backslash": "/a\\b", "long": "/" + "p" * 2000,
        "percent": "/%2e%2e/%zz%", "dots": "/../../a", "slashes": "//a//b",
        "two_queries": "/?a?b", "semicolon": "/a;b=c", "obs_text": "/\xc3\xa4", "no_slash": "a/b",
        "blank": "/a b", "tab": "/a\tb", "delete": "/a\x7fb", "nul": "/a\0b", "control": "/a\x01b",
        "empty": "",
    }
    for name, target in targets.items():
        request(f"target_{name}", start=f"GET {target} HTTP/1.1")

    versions = {"1.0": "HTTP/1.0", "1.1": "HTTP/1.1", "1.2": "HTTP/1.2", "1.9": "HTTP/1.9",
                "0.9": "HTTP/0.9", "2.0": "HTTP/2.0", "3.0": "HTTP/3.0", "no_minor": "HTTP/1",
                "dot_only": "HTTP/1.", "two_digits": "HTTP/1.10", "zero_first": "HTTP/01.1",
                "lower_case": "http/1.1", "other": "ICE/1.0", "letters": "HTTP/1.x",
                "signed": "HTTP/1.-1", "empty": "", "comma": "HTTP/1,1", "blank": "HTTP /1.1"}
    for name, version in versions.items():
        request(f"version_{name}", start=f"GET / {version}")
        response(f"status_version_{name}", start=f"{version} 200 OK")

    for name, start in {"absent": "GET /", "two_before_target": "GET  / HTTP/1.1",
                        "two_before_version": "GET /  HTTP/1.1", "behind": "GET / HTTP/1.1 ",
                        "in_front": " GET / HTTP/1.1", "tab_before_target": "GET\t/ HTTP/1.1",
                        "tab_before_version": "GET /\tHTTP/1.1",
                        "word_behind": "GET / HTTP/1.1 x"}.items():
        request(f"request_line_blank_{name}", start=start)

    statuses = {"100": "100 Continue", "101": "101 Switching Protocols", "204": "204 No Content",
                "304": "304 Not Modified", "404": "404 Not Found", "599": "599 x", "600": "600 x",
                "999": "999 x", "no_reason": "200 ", "no_blank": "200", "long_reason": "200 " + "r" * 300,
                "reason_of_signs": "200 \"(),/:;<=>?@[\\]{}", "reason_obs_text": "200 \xc4\xd6",
                "reason_tab": "200 a\tb", "reason_control": "200 a\x01b", "reason_nul": "200 a\0b",
                "reason_delete": "200 a\x7fb", "0": "0 x", "1": "1 x", "20": "20 x", "099": "099 x",
                "2000": "2000 x", "signed": "+200 x", "letters": "2xx x", "empty": "",
                "two_blanks": " 200 x", "tab": "\t200 x", "tab_behind": "200\tx", "blank_only": " "}
    for name, status in statuses.items():
        response(f"status_{name}", "Content-Length: 0\r\n", start=f"HTTP/1.1 {status}")


def line_ends():
    for name, data in {
            "lf_everywhere": "GET / HTTP/1.1\nHost: o\nA: b\n\n",
            "lf_behind_request_line": "GET / HTTP/1.1\nHost: o\r\n\r\n",
            "lf_behind_field": "GET / HTTP/1.1\r\nHost: o\nA: b\r\n\r\n",
            "lf_at_end": "GET / HTTP/1.1\r\nHost: o\r\n\n",
            "cr_behind_request_line": "GET / HTTP/1.1\rHost: o\r\n\r\n",
            "cr_cr_lf": "GET / HTTP/1.1\r\nHost: o\r\r\n\r\n",
            "cr_in_value": "GET / HTTP/1.1\r\nHost: o\rA: b\r\n\r\n",
            "cr_at_end": "GET / HTTP/1.1\r\nHost: o\r\n\rx\r\n\r\n",
            "one_empty_line_in_front": "\r\nGET / HTTP/1.1\r\nHost: o\r\n\r\n",
            "two_empty_lines_in_front": "\r\n\r\nGET / HTTP/1.1\r\nHost: o\r\n\r\n",
            "lf_in_front": "\nGET / HTTP/1.1\r\nHost: o\r\n\r\n",
            "cr_in_front": "\rGET / HTTP/1.1\r\nHost: o\r\n\r\n"}.items():
        add("line_end_" + name, "request", data)
    for name, data in {
            "lf_everywhere": "HTTP/1.1 200 OK\nA: b\n\n", "lf_behind_status": "HTTP/1.1 200 OK\nA: b\r\n\r\n",
            "lf_at_end": "HTTP/1.1 200 OK\r\nA: b\r\n\n", "cr_in_reason": "HTTP/1.1 200 O\rK\r\n\r\n",
            "empty_line_in_front": "\r\nHTTP/1.1 200 OK\r\n\r\n"}.items():
        add("line_end_response_" + name, "response", data)


def fields():
    for byte in BYTES:
        char = chr(byte)
        both(f"name_byte_{byte:02x}", f"X{char}Y: v\r\n")
        both(f"value_byte_{byte:02x}", f"X-Y: v{char}w\r\n")
    for name, lines in {
            "none": "", "empty_value": "A:\r\n", "blanks_around": "A: \t b c \t \r\n",
            "no_blank": "A:b\r\n", "colons": "A: b:c::d\r\n", "colon_first": "A::b\r\n",
            "no_colon": "A\r\n", "no_name": ": b\r\n", "blank_before_colon": "A : b\r\n",
            "tab_before_colon": "A\t: b\r\n", "blank_first": " A: b\r\n", "folded": "A: b\r\n c\r\n",
            "folded_tab": "A: b\r\n\tc\r\n", "folded_empty": "A:\r\n b\r\n",
            "repeated": "A: 1\r\nB: 2\r\na: 3\r\n", "long_name": "N" * 300 + ": b\r\n",
            "long_value": "A: " + "v" * 4000 + "\r\n", "many": "".join(f"A{i}: {i}\r\n" for i in range(90)),
            "of_token_signs": "!#$%&'*+-.^_`|~09azAZ: b\r\n", "utf8_value": "A: \xc3\xa4\xe2\x82\xac\r\n",
            "quoted_value": "A: \"b\\\"c, d\"\r\n", "underscore": "A_B: c\r\n"}.items():
        both(f"field_{name}", lines)


def framing():
    lengths = {"5": "5", "0": "0", "005": "005", "signed": "+5", "negative": "-1", "hex": "0x5",
               "two_words": "5 5", "semicolon": "5;", "empty": "", "list_equal": "5, 5", "list": "5,6",
               "blank_behind": "5  ", "tab": "\t5", "fraction": "5.0", "exponent": "1e3", "quoted": '"5"',
               "max": "9223372036854775807", "past_63_bits": "9223372036854775808", "past_64_bits": "18446744073709551621",
               "huge": "9" * 40, "letters": "five", "list_empty_member": "5,"}
    for name, value in lengths.items():
        both(f"length_{name}", f"Content-Length: {value}\r\n")
    both("length_twice_equal", "Content-Length: 5\r\nContent-Length: 5\r\n")
    both("length_twice", "Content-Length: 5\r\nContent-Length: 6\r\n")
    both("length_case", "cOnTeNt-LeNgTh: 5\r\n")

    codings = {"plain": "chunked", "case": "CHUNKED", "prefix": "chunkedx", "suffix": "xchunked",
               "identity_behind": "chunked, identity", "identity_before": "identity, chunked",
               "identity": "identity", "empty": "", "comma_behind": "chunked,", "comma_before": ",chunked",
               "quoted": '"chunked"', "parameter": "chunked;q=1", "twice": "chunked, chunked",
               "gzip": "gzip", "gzip_before": "gzip, chunked", "blanks": " \tchunked\t ",
               "two_words": "chunked x", "obs_text": "\xe4chunked"}
    for name, value in codings.items():
        both(f"coding_{name}", f"Transfer-Encoding: {value}\r\n")
    both("coding_two_lines", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")
    both("coding_two_lines_mixed", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")
    both("coding_behind_length", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")
    both("coding_before_length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")
    request("coding_in_1_0", "Transfer-Encoding: chunked\r\n", start="POST / HTTP/1.0")
    response("coding_in_1_0_answer", "Transfer-Encoding: chunked\r\n", start="HTTP/1.0 200 OK")
    for status in ("100 Continue", "204 No Content", "304 Not Modified"):
        response(f"length_of_{status[:3]}", "Content-Length: 7\r\n", start=f"HTTP/1.1 {status}")


def real_life():
    request("chrome", """Connection: keep-alive\r
Proxy-Connection: keep-alive\r
Cache-Control: max-age=0\r
Upgrade-Insecure-Requests: 1\r
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36\r
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r
Accept-Encoding: gzip, deflate\r
Accept-Language: de-DE,de;q=0.9,en;q=0.7\r
Cookie: sid=0123456789abcdef; theme=dark; "odd"=yes\r
""")
    request("firefox", """User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0\r
Accept: */*\r
Accept-Language: en-US,en;q=0.5\r
Accept-Encoding: gzip, deflate\r
Origin: http://o.test\r
Connection: keep-alive\r
Referer: http://o.test/a?b\r
If-None-Match: W/"5f-abc"\r
""")
    request("curl", "User-Agent: curl/7.88.1\r\nAccept: */*\r\nProxy-Connection: Keep-Alive\r\n")
    request("curl_upload", "User-Agent: curl/7.88.1\r\nAccept: */*\r\nContent-Length: 1048576\r\n"
            "Expect: 100-continue\r\n", start="PUT http://o.test/f HTTP/1.1")
    request("curl_connect", "User-Agent: curl/7.88.1\r\nProxy-Connection: Keep-Alive\r\n",
            start="CONNECT o.test:443 HTTP/1.1", host="Host: o.test:443\r\n")
    request("wget", "User-Agent: Wget/1.21.3\r\nAccept: */*\r\nAccept-Encoding: identity\r\n"
            "Connection: Keep-Alive\r\nProxy-Connection: Keep-Alive\r\n")
    request("apt", "Cache-Control: max-age=0\r\nAccept: text/*\r\n"
            "If-Modified-Since: Sat, 10 Jun 2023 08:53:33 GMT\r\n"
            "User-Agent: Debian APT-HTTP/1.3 (2.6.1)\r\n",
            start="GET http://deb.debian.org/debian/dists/bookworm/InRelease HTTP/1.1",
            host="Host: deb.debian.org\r\n")
    request("ab", "User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n", start="GET http://o.test/ HTTP/1.0")
    request("git", "User-Agent: git/2.39.2\r\nAccept: */*\r\nAccept-Encoding: deflate, gzip\r\n"
            "Pragma: no-cache\r\nGit-Protocol: version=2\r\n",
            start="GET http://o.test/r.git/info/refs?service=git-upload-pack HTTP/1.1")
    request("git_post", "User-Agent: git/2.39.2\r\nContent-Encoding: gzip\r\n"
            "Content-Type: application/x-git-upload-pack-request\r\nTransfer-Encoding: chunked\r\n",
            start="POST http://o.test/r.git/git-upload-pack HTTP/1.1")
    request("websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
    request("go", "User-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n")
    request("python", "User-Agent: python-requests/2.28.1\r\nAccept-Encoding: gzip, deflate\r\n"
            "Accept: */*\r\nConnection: keep-alive\r\n")
    request("java_h2c", "Connection: Upgrade, HTTP2-Settings\r\nContent-Length: 0\r\n"
            "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n"
            "User-Agent: Java-http-client/17.0.8\r\n")
    request("webdav", "Depth: 1\r\nContent-Type: text/xml\r\nContent-Length: 131\r\n",
            start="PROPFIND http://o.test/dav/ HTTP/1.1")

    response("nginx", """Server: nginx/1.22.1\r
Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Content-Type: text/html\r
Content-Length: 615\r
Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r
Connection: keep-alive\r
ETag: "65920080-267"\r
Accept-Ranges: bytes\r
""")
    response("apache", """Date: Mon, 01 Jan 2024 00:00:00 GMT\r
Server: Apache/2.4.57 (Debian)\r
Vary: Accept-Encoding\r
Keep-Alive: timeout=5, max=100\r
Connection: Keep-Alive\r
Transfer-Encoding: chunked\r
Content-Type: text/html;charset=UTF-8\r
""")
    response("python_server", "Server: SimpleHTTP/0.6 Python/3.11.2\r\nContent-type: text/html\r\n"
             "Content-Length: 342\r\n", start="HTTP/1.0 200 OK")
    response("redirect", "Location: https://o.test/\r\nContent-Length: 0\r\n",
             start="HTTP/1.1 301 Moved Permanently")
    response("cookies", "Set-Cookie: a=1; Path=/; HttpOnly\r\nSet-Cookie: b=2; Secure\r\n"
             "set-cookie: c=\"3, 4\"\r\nContent-Length: 2\r\n")
    response("event_stream", "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n")
    response("websocket_101", "Upgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
             start="HTTP/1.1 101 Switching Protocols")
    response("cdn", "Age: 12\r\nVia: 1.1 varnish, 1.1 varnish\r\nX-Cache: HIT, MISS\r\n"
             "Alt-Svc: h3=\":443\"; ma=86400\r\nServer-Timing: a;dur=1,b;desc=\"x y\"\r\n"
             "Content-Length: 10\r\nStrict-Transport-Security: max-age=300\r\n")
    response("partial", "Content-Range: bytes 0-99/1000\r\nContent-Length: 100\r\n",
             start="HTTP/1.1 206 Partial Content")
    response("early_hints", "Link: </s.css>; rel=preload; as=style\r\n", start="HTTP/1.1 103 Early Hints")
    response("icy", "icy-name: radio\r\n", start="ICY 200 OK")


def escaped(data):
    text = ""
    for byte in data:
        if byte == 0x5c:
            text += "\\\\"
        elif 0x20 <= byte < 0x7f:
            text += chr(byte)
        else:
            text += {0x0d: "\\r", 0x0a: "\\n", 0x09: "\\t"}.get(byte, f"\\x{byte:02x}")
    return text


def main():
    for family in (start_lines, line_ends, fields, framing, real_life):
        family()
    for name, (kind, data) in HEADS.items():
        print(name, kind, escaped(data), sep="\t")


if __name__ == "__main__":
    main()
