#!/usr/bin/env python3
"""Judges the RoCEv2 packets that arrive at this host by their IP headers, apart from the device: is each one's ICRC right?

It prints `ready`, and when it is interrupted `N right, N wrong, N with an identification`. A datagram of more bytes than a packet has is
a train that nobody has divided yet: its i-th packet is judged as if it had identification i, which dividing would give it.
"""

import signal
import socket
import struct
import sys
import zlib

PORT = 4791
ANY_UDP = 17


def icrc(header, udp, packet):
    """InfiniBand annex A17.3.3; `packet` from the BTH to the payload's padding."""
    masked = bytearray(header)
    masked[1] = masked[8] = 0xFF
    masked[10:12] = b"\xff\xff"
    ports = udp[:4] + struct.pack(">H", 8 + len(packet) + 4) + b"\xff\xff"
    return zlib.crc32(b"\xff" * 8 + bytes(masked) + ports + packet[:4] + b"\xff" + packet[5:])


def packets(datagram, segment):
    """The packets of an IP datagram: header, UDP header, and bytes from the BTH to the ICRC."""
    header, udp, rest = datagram[:20], datagram[20:28], datagram[28:]
    first = struct.unpack(">H", header[4:6])[0]
    for index in range(0, len(rest), segment or len(rest) or 1):
        packet = rest[index:index + (segment or len(rest))]
        length = struct.pack(">H", 28 + len(packet))
        number = struct.pack(">H", first + index // (segment or 1) if segment else first)
        yield header[:2] + length + number + header[6:], udp, packet


def main():
    taker = socket.socket(socket.AF_INET, socket.SOCK_RAW, ANY_UDP)
    taker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    taker.settimeout(0.2)
    ended = []
    signal.signal(signal.SIGINT, lambda *_: ended.append(True))
    print("ready", flush=True)
    counts = {"right": 0, "wrong": 0, "numbered": 0}
    while not ended:
        try:
            datagram = taker.recv(1 << 16)
        except TimeoutError:
            continue
        if struct.unpack(">H", datagram[22:24])[0] == PORT:
            judge(datagram, counts)
    print(f"{counts['right']} right, {counts['wrong']} wrong, {counts['numbered']} with an identification", flush=True)


def judge(datagram, counts):
    # A train begins with a packet of full length: of 1024 bytes of payload, behind a BTH, perhaps a RETH.
    candidates = [0] if len(datagram) < 1200 else [12 + 1024 + 4, 12 + 16 + 1024 + 4]
    for segment in candidates:
        results = [icrc(*parts[:2], parts[2][:-4]) == struct.unpack("<I", parts[2][-4:])[0] for parts in packets(datagram, segment)]
        if all(results):
            break
    counts["right"] += sum(results)
    counts["wrong"] += len(results) - sum(results)
    counts["numbered"] += struct.unpack(">H", datagram[4:6])[0] != 0


if __name__ == "__main__":
    sys.exit(main())
