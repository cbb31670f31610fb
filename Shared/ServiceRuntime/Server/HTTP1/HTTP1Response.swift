import NIOCore
import NIOHTTP1

/// Writes an answer as HTTP/1.1, head and body in one buffer: one write to the socket for what is small, which most is.
struct HTTP1Response {
  private var date = HTTPDate()

  static let continueLine = "HTTP/1.1 100 Continue\r\n\r\n"

  /// - Parameters:
  ///   - withoutBody: the answer to HEAD, whose length is stated and whose body is not sent.
  ///   - close: whether the connection ends after it.
  ///   - keepAlive10: whether an HTTP/1.0 peer is told that the connection stays open.
  mutating func write(_ answer: HTTPAnswer, into buffer: inout ByteBuffer, withoutBody: Bool, close: Bool, keepAlive10: Bool) {
    switch answer.status {
    case 200: buffer.writeStaticString("HTTP/1.1 200 OK\r\n")
    default:
      let status = HTTPResponseStatus(statusCode: answer.status)
      buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
    }
    for (name, value) in answer.headers where Self.isSafe(value) && Self.isSafe(name) {
      buffer.writeString(name)
      buffer.writeStaticString(": ")
      buffer.writeString(value)
      buffer.writeStaticString("\r\n")
    }
    if let requestId = answer.requestId, Self.isSafe(requestId) {
      buffer.writeStaticString("x-request-id: ")
      buffer.writeString(requestId)
      buffer.writeStaticString("\r\n")
    }
    buffer.writeStaticString("content-length: ")
    buffer.writeString(String(answer.body.count))
    if close {
      buffer.writeStaticString("\r\nconnection: close")
    } else if keepAlive10 {
      buffer.writeStaticString("\r\nconnection: keep-alive")
    }
    buffer.writeStaticString("\r\ndate: ")
    buffer.writeString(date.value())
    buffer.writeStaticString("\r\n\r\n")
    if !withoutBody { buffer.writeBytes(answer.body) }
  }

  /// A line break inside a value would let its author write headers of his own.
  static func isSafe(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var safe = true
      for byte in utf8 { safe = safe && byte >= 0x20 || safe && byte == 0x09 }
      return safe
    }
  }
}
