#!/usr/bin/env python3
"""A server that speaks TLS, but not always at once.

    shakes.py PORT CERT KEY      breaks its first two connections off during the handshake, one politely, one not
    shakes.py PORT               knows no TLS and answers as if it had been asked something

The first connection of all is that of whoever waits for the server to start."""
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
