#!/usr/bin/env python3
"""A TLS server that breaks handshakes.

    shakes.py PORT CERT KEY      breaks its first two connections during the handshake, one with an
                                 alert, one without
    shakes.py PORT               does not support TLS and answers as if it had received a request

The very first connection is that of the test that waits for the server to start."""
import socket
import ssl
import struct
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
listener.accept()[0].close()
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    for linger in (0, 1):
        connection = listener.accept()[0]
        connection.recv(100)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", linger, 0))
        connection.close()
while True:
    connection = listener.accept()[0]
    try:
        if len(sys.argv) > 2:
            connection = context.wrap_socket(connection, server_side=True)
        connection.recv(10000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    except OSError:
        pass
    connection.close()
