"""PROXY protocol headers: made, also wrong, and read back from what an origin received."""

import ipaddress
import struct

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LOCAL, PROXY = 0x20, 0x21
AUTHORITY, CRC32C = 2, 3


def v1(source, destination):
    family = 6 if ":" in source[0] else 4
    return f"PROXY TCP{family} {source[0]} {destination[0]} {source[1]} {destination[1]}\r\n".encode()


def tlv(kind, value):
    return struct.pack(">BH", kind, len(value)) + value


def v2(source=None, destination=None, tlvs=b"", command=PROXY):
    """Without addresses: family UNSPEC."""
    block, family = tlvs, 0
    if source:
        packed = [ipaddress.ip_address(end[0]).packed for end in (source, destination)]
        family = 0x11 if len(packed[0]) == 4 else 0x21
        block = b"".join(packed) + struct.pack(">HH", source[1], destination[1]) + tlvs
    return SIGNATURE + struct.pack(">BBH", command, family, len(block)) + block


def read(data):
    """(version, source, destination, {TLV type: value}, number of bytes) of a header at the front of `data`.

    The ends are None where the header has none.
    """
    if data.startswith(b"PROXY "):
        line, end, _ = data.partition(b"\r\n")
        assert end, data
        words = line.decode().split(" ")
        if words[1] == "UNKNOWN":
            return 1, None, None, {}, len(line) + 2
        assert len(words) == 6, line
        return 1, (words[2], int(words[4])), (words[3], int(words[5])), {}, len(line) + 2
    assert data.startswith(SIGNATURE), data[:50]
    command, family, length = struct.unpack(">BBH", data[12:16])
    assert command == PROXY and len(data) >= 16 + length, data
    block, source, destination = data[16:16 + length], None, None
    if family != 0:
        size = {0x11: 4, 0x21: 16}[family]
        ports = struct.unpack(">HH", block[2 * size:2 * size + 4])
        source = (str(ipaddress.ip_address(block[:size])), ports[0])
        destination = (str(ipaddress.ip_address(block[size:2 * size])), ports[1])
        block = block[2 * size + 4:]
    tlvs = {}
    while block:
        kind, size = struct.unpack(">BH", block[:3])
        tlvs[kind] = block[3:3 + size]
        block = block[3 + size:]
    return 2, source, destination, tlvs, 16 + length
