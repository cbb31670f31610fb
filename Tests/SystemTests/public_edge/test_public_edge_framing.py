"""Framing on ingest's public port by RFC 9112: ambiguous requests are refused. Answers are in order."""

import threading

import pytest

from SystemTests.support.ingest_process import RawConnection

from .edge import LENGTH, POSTBACK, chunked, exchange, framed, postback, request

FAULTY = {
    "length and chunked": framed(b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % LENGTH, chunked(POSTBACK)),
    "chunked and length": framed(b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n" % LENGTH, chunked(POSTBACK)),
    "two lengths that differ": framed(b"Content-Length: %d\r\nContent-Length: %d\r\n" % (LENGTH, LENGTH - 1)),
    "a list of lengths that differ": framed(b"Content-Length: %d, %d\r\n" % (LENGTH, LENGTH - 1)),
    "a length with a plus": framed(b"Content-Length: +%d\r\n" % LENGTH),
    "a negative length": framed(b"Content-Length: -%d\r\n" % LENGTH),
    "a hexadecimal length": framed(b"Content-Length: 0x%x\r\n" % LENGTH),
    "a length with a space inside": framed(b"Content-Length: 1 %d\r\n" % LENGTH),
    "a length with a fraction": framed(b"Content-Length: %d.0\r\n" % LENGTH),
    "an empty length": framed(b"Content-Length: \r\n"),
    "a length past 64 bits": framed(b"Content-Length: %d\r\n" % ((1 << 64) + LENGTH)),
    "a length far past 64 bits": framed(b"Content-Length: " + b"9" * 400 + b"\r\n"),
    "a space before a length's colon": framed(b"Content-Length : %d\r\n" % LENGTH),
    "a space before an encoding's colon": framed(b"Transfer-Encoding : chunked\r\n", chunked(POSTBACK)),
    "an unknown encoding": framed(b"Transfer-Encoding: xchunked\r\n", chunked(POSTBACK)),
    "gzip as the last encoding": framed(b"Transfer-Encoding: chunked, gzip\r\n", chunked(POSTBACK)),
    "chunked twice": framed(b"Transfer-Encoding: chunked, chunked\r\n", chunked(POSTBACK)),
    "two encodings": framed(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked(POSTBACK)),
    "an encoding behind a vertical tab": framed(b"Transfer-Encoding: \x0bchunked\r\n", chunked(POSTBACK)),
    "an encoding with a NUL": framed(b"Transfer-Encoding: chunked\x00\r\n", chunked(POSTBACK)),
    "a folded length": framed(b"Content-Length:\r\n %d\r\n" % LENGTH),
    "a folded encoding": framed(b"Transfer-Encoding:\r\n chunked\r\n", chunked(POSTBACK)),
    "a folded field": request(b"X-A: b\r\n c\r\n", POSTBACK),
    "a folded first line": b"POST /v1/postbacks HTTP/1.1\r\n X: y\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % LENGTH + POSTBACK,
    "a line's end without its carriage return": request(b"X-A: b\nX-C: d\r\n", POSTBACK),
    "a head of bare line feeds": request(b"", POSTBACK).split(b"\r\n\r\n")[0].replace(b"\r\n", b"\n") + b"\n\n" + POSTBACK,
    "a bare carriage return in a value": request(b"X-A: b\rc\r\n", POSTBACK),
    "a NUL in a value": request(b"X-A: b\x00c\r\n", POSTBACK),
    "a field without a colon": request(b"X-A\r\n", POSTBACK),
    "a field without a name": request(b": x\r\n", POSTBACK),
    "a field's name with a space": request(b"X A: b\r\n", POSTBACK),
    "a field's name with a control": request(b"X\x01A: b\r\n", POSTBACK),
    "a chunk's length with a plus": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"+%x" % LENGTH)),
    "a negative chunk": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"-%x" % LENGTH)),
    "a chunk's length with 0x": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"0x%x" % LENGTH)),
    "a chunk's length past 64 bits": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"1%016x" % LENGTH)),
    "an empty chunk's length": framed(b"Transfer-Encoding: chunked\r\n", b"\r\n" + POSTBACK + b"\r\n0\r\n\r\n"),
    "a chunk longer than said": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"%x" % (LENGTH - 1))),
    "a chunk's end that is none": framed(b"Transfer-Encoding: chunked\r\n", b"%x\r\n" % LENGTH + POSTBACK + b"XX0\r\n\r\n"),
    "chunks between bare line feeds": framed(b"Transfer-Encoding: chunked\r\n", b"%x\n" % LENGTH + POSTBACK + b"\n0\n\n"),
    "a chunk's extension with a line feed": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"%x;a\nb" % LENGTH)),
    "HTTP/1.2": request(b"", POSTBACK, line=b"POST /v1/postbacks HTTP/1.2"),
    "HTTP/2.0 on the line": request(b"", POSTBACK, line=b"POST /v1/postbacks HTTP/2.0"),
    "HTTP/1.10": request(b"", POSTBACK, line=b"POST /v1/postbacks HTTP/1.10"),
    "http in lower case": request(b"", POSTBACK, line=b"POST /v1/postbacks http/1.1"),
    "no version": request(b"", POSTBACK, line=b"POST /v1/postbacks"),
    "a space in the target": request(b"", POSTBACK, line=b"POST /v1/post backs HTTP/1.1"),
    "a method that is no token": request(b"", POSTBACK, line=b"PO(ST /v1/postbacks HTTP/1.1"),
    "TLS": bytes.fromhex("160301020001000001fc0303") + bytes(200),
    "no HTTP at all": bytes(range(256)) * 4 + b"\r\n\r\n",
}


@pytest.mark.parametrize("data", FAULTY.values(), ids=FAULTY.keys())
def test_faulty_framing_gets_400_and_closes_the_connection(edge, data):
    # A complete request follows: a server that reads the first one in another way would answer that one too.
    answers = exchange(edge, data + request())
    assert [answer.status for answer in answers] in ([400], [501]), answers
    assert answers[0].headers["connection"] == "close"


ODD = {
    "as it should be": request(b"", POSTBACK),
    "empty lines in front": b"\r\n\r\n" + request(b"", POSTBACK),
    "chunked in capitals": framed(b"TRANSFER-ENCODING: CHUNKED\r\n", chunked(POSTBACK)),
    "many chunks": framed(b"Transfer-Encoding: chunked\r\n", b"".join(b"1\r\n%c\r\n" % byte for byte in POSTBACK) + b"0\r\n\r\n"),
    "a chunk's extension": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b'%x;name="a value"' % LENGTH)),
    "leading zeros of a chunk": framed(b"Transfer-Encoding: chunked\r\n", chunked(POSTBACK, b"000000%x" % LENGTH)),
    "a trailer": framed(b"Transfer-Encoding: chunked\r\n", b"%x\r\n" % LENGTH + POSTBACK + b"\r\n0\r\nX-Sum: 5\r\n\r\n"),
    "leading zeros of a length": framed(b"Content-Length: 000%d\r\n" % LENGTH),
    "spaces before a length": framed(b"Content-Length: \t  %d\r\n" % LENGTH),
    "no space after a colon": framed(b"Content-Length:%d\r\n" % LENGTH),
    "an empty value": request(b"X-A:\r\n", POSTBACK),
    "spaces around a value": request(b"X-A: \t b \t \r\n", POSTBACK),
    "bytes past ASCII in a value": request(b"X-A: \xc3\xa4\xff\r\n", POSTBACK),
    "a query": request(b"", POSTBACK, line=b"POST /v1/postbacks?a=b HTTP/1.1"),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_unusual_but_valid_framing_is_accepted_and_the_next_request_too(edge, data):
    answers = exchange(edge, data + request(b"Connection: close\r\n"))
    assert [answer.status for answer in answers] == [200, 200], answers


def test_http_1_0_is_answered_and_closed_without_keep_alive(edge):
    line = b"POST /v1/postbacks HTTP/1.0"
    assert [answer.status for answer in exchange(edge, request(line=line, host=b"") + request())] == [200]
    kept = request(b"Connection: keep-alive\r\n", line=line, host=b"") + request(b"Connection: close\r\n")
    assert [answer.status for answer in exchange(edge, kept)] == [200, 200]


# --- order --------------------------------------------------------------------------------------------------------------

def test_pipelined_requests_are_answered_in_order(edge):
    count = 400
    bodies = [request(b"X-Request-Id: ahead-%d\r\n" % index, line=b"POST %s HTTP/1.1" % (
        b"/v1/nothing" if index % 3 == 1 else b"/v1/postbacks"), body=postback() if index % 3 else b"{}") for index in range(count)]
    with RawConnection(edge.port) as connection:
        threading.Thread(target=connection.send, args=(b"".join(bodies),), daemon=True).start()
        for index in range(count):
            answer = connection.answer()
            assert answer.headers["x-request-id"] == f"ahead-{index}"
            assert answer.status == (400, 404, 200)[index % 3], (index, answer)


def test_a_truncated_request_is_not_accepted(edge):
    for cut in (1, 30, 200, LENGTH):
        data = request()
        with RawConnection(edge.port) as connection:
            connection.send(data[:-cut])
            connection.socket.shutdown(1)
            assert [answer.status for answer in connection.answers_to_end()] in ([], [400])
