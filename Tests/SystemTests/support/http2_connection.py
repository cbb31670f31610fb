"""An HTTP/2 connection that sends any frames, valid or not, and records the frames it receives."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

import hpack
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
REQUEST = [(":method", "POST"), (":scheme", "http"), (":authority", "localhost"), (":path", "/v1/postbacks"),
           ("content-type", "application/json")]


def replaced(name: str, value: str | None, fields: list[tuple[str, str]] = REQUEST) -> list[tuple[str, str]]:
    """The fields with another value of one of them, or without it."""
    return [(key, value if key == name else old) for key, old in fields if key != name or value is not None]


class HTTP2Connection:
    """Frames are read by a separate thread, so that a peer's answers never block a test's frames."""

    def __init__(self, port: int, settings: dict[int, int] | None = None) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self.changed = threading.Condition()
        self.sending = threading.Lock()
        self.ended = False
        self.statuses: dict[int, int] = {}
        self.bodies: dict[int, bytes] = {}
        self.finished: set[int] = set()
        self.resets: dict[int, int] = {}
        self.goaway: int | None = None
        self.pings = 0
        self.last_stream: int | None = None
        self.settings: dict[int, int] = {}
        self.windows: dict[int, int] = {0: 65535}
        # The window is as large as any answer here, so that it need not be updated.
        self.send(PREFACE + SettingsFrame(0, settings=settings or {}).serialize()
                  + WindowUpdateFrame(0, window_increment=1 << 30).serialize())
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self) -> HTTP2Connection:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.reader.join(60)
        self.socket.close()

    # --- sending ------------------------------------------------------------------------------------------------

    def send(self, data: bytes) -> bool:
        """Sends; returns whether the peer still accepted it."""
        try:
            with self.sending:
                self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def acknowledge(self) -> HTTP2Connection:
        """Waits for the peer's settings and acknowledges them; only then they are in effect."""
        self.wait(lambda: self.settings)
        self.send(SettingsFrame(0, flags=["ACK"]).serialize())
        return self

    def headers(self, stream: int, fields: list[tuple[str, str]] = REQUEST, *, end_stream: bool = False, end_headers: bool = True) -> bytes:
        flags = (["END_STREAM"] if end_stream else []) + (["END_HEADERS"] if end_headers else [])
        return HeadersFrame(stream, self.encoder.encode(fields, huffman=False), flags=flags).serialize()

    def request(self, stream: int, body: bytes, fields: list[tuple[str, str]] = REQUEST) -> bytes:
        return self.headers(stream, fields) + DataFrame(stream, body, flags=["END_STREAM"]).serialize()

    def send_body(self, stream: int, body: bytes) -> None:
        """Sends as much as the peer's windows allow, until all is sent or the peer closes."""
        at = 0
        with self.changed:
            self.windows.setdefault(stream, 65535)
        while at < len(body):
            with self.changed:
                room = self.changed.wait_for(
                    lambda: self.ended or stream in self.resets or min(self.windows[0], self.windows[stream]) > 0, 60)
                assert room, "no window came"
                if self.ended or stream in self.resets:
                    return
                size = min(16384, len(body) - at, self.windows[0], self.windows[stream])
                self.windows[0] -= size
                self.windows[stream] -= size
            flags = ["END_STREAM"] if at + size == len(body) else []
            if not self.send(DataFrame(stream, body[at:at + size], flags=flags).serialize()):
                return
            at += size

    # --- receiving ----------------------------------------------------------------------------------------------

    def wait(self, condition: Callable[[], bool]) -> bool:
        """Waits until the condition holds or the connection ends; returns whether it holds."""
        with self.changed:
            assert self.changed.wait_for(lambda: condition() or self.ended, 60), "nothing came"
            return condition()

    def wait_for_end(self) -> None:
        self.wait(lambda: False)

    def status(self, stream: int) -> int | None:
        """A stream's answer; None if it was reset or the connection ended."""
        self.wait(lambda: stream in self.finished or stream in self.resets)
        return self.statuses.get(stream) if stream in self.finished else None

    def _read(self) -> None:
        buffer = b""
        try:
            while True:
                while len(buffer) < 9 or len(buffer) < 9 + int.from_bytes(buffer[:3], "big"):
                    received = self.socket.recv(65536)
                    if not received:
                        return
                    buffer += received
                frame, length = Frame.parse_frame_header(memoryview(buffer[:9]))
                frame.parse_body(memoryview(buffer[9:9 + length]))
                buffer = buffer[9 + length:]
                with self.changed:
                    self._record(frame)
                    self.changed.notify_all()
        except OSError:
            pass
        finally:
            with self.changed:
                self.ended = True
                self.changed.notify_all()

    def _record(self, frame: Frame) -> None:
        match frame:
            case HeadersFrame():
                fields = dict(self.decoder.decode(frame.data))
                self.statuses[frame.stream_id] = int(fields[":status"])
            case DataFrame():
                self.bodies[frame.stream_id] = self.bodies.get(frame.stream_id, b"") + frame.data
            case RstStreamFrame():
                self.resets[frame.stream_id] = frame.error_code
            case GoAwayFrame():
                self.goaway, self.last_stream = frame.error_code, frame.last_stream_id
            case SettingsFrame() if "ACK" not in frame.flags:
                self.settings |= frame.settings
            case WindowUpdateFrame():
                self.windows[frame.stream_id] = self.windows.get(frame.stream_id, 65535) + frame.window_increment
            case _ if frame.type == 6:
                self.pings += 1
        if isinstance(frame, (HeadersFrame, DataFrame)) and "END_STREAM" in frame.flags:
            self.finished.add(frame.stream_id)
