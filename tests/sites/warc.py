#!/usr/bin/env python3
"""Reads a WARC file by the standard and prints `TYPE URL STATUS LENGTH [TRUNCATED]` per record.

Fails if a record is not a separate gzip member, or if a length is wrong."""
import sys
import zlib


def headers(block):
    head, _, rest = block.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    return first.decode(), {k.lower().decode(): v.strip().decode("latin-1")
                            for k, _, v in (line.partition(b":") for line in lines)}, rest


data = open(sys.argv[1], "rb").read()
while data:
    stream = zlib.decompressobj(31)
    record = stream.decompress(data) + stream.flush()
    assert stream.eof, "a member is cut short"
    data = stream.unused_data
    version, fields, rest = headers(record)
    assert version == "WARC/1.1", version
    length = int(fields["content-length"])
    assert rest[length:] == b"\r\n\r\n", "the length of a record"
    assert fields["warc-record-id"].startswith("<urn:uuid:") and fields["warc-date"].endswith("Z")
    if fields["warc-type"] != "response":
        print(fields["warc-type"])
        continue
    assert fields["content-type"] == "application/http; msgtype=response"
    status, http, body = headers(rest[:length])
    assert status.startswith("HTTP/1.1 "), status
    assert int(http["content-length"]) == len(body), "the length of a body"
    # Only an encoding that was not decoded keeps its header.
    assert http.get("content-encoding") not in ("gzip", "x-gzip", "deflate", "br", "zstd"), http["content-encoding"]
    assert "transfer-encoding" not in http and "warc-payload-digest" in fields
    print("response", fields["warc-target-uri"], status.split()[1], len(body),
          *([fields["warc-truncated"]] if "warc-truncated" in fields else []))
