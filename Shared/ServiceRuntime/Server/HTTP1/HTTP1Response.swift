import NIOCore
import NIOHTTP1

/// Encodes responses as HTTP/1.1, each with its head and body in one buffer, so that a small response needs one write to the socket.
struct HTTP1Response {
  private var date = HTTPDate()

  static let continueLine = "HTTP/1.1 100 Continue\r\n\r\n"

  /// Headers with control characters are left out.
  ///
  /// - Parameters:
  ///   - withoutBody: true for the response to HEAD: its length is stated, and its body is not sent.
  ///   - close: true if the connection ends after the response.
  ///   - keepAlive10: true for an HTTP/1.0 peer, which must be told if the connection stays open.
  mutating func write(_ response: HTTPResponse, into buffer: inout ByteBuffer, withoutBody: Bool, close: Bool, keepAlive10: Bool) {
    switch response.status {
    case 200: buffer.writeStaticString("HTTP/1.1 200 OK\r\n")
    default:
      let status = HTTPResponseStatus(statusCode: response.status)
      buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
    }
    for (name, value) in response.headers where Self.isSafe(value) && Self.isSafe(name) {
      buffer.writeString(name)
      buffer.writeStaticString(": ")
      buffer.writeString(value)
      buffer.writeStaticString("\r\n")
    }
    if let requestId = response.requestId, Self.isSafe(requestId) {
      buffer.writeStaticString("x-request-id: ")
      buffer.writeString(requestId)
      buffer.writeStaticString("\r\n")
    }
    buffer.writeStaticString("content-length: ")
    buffer.writeString(String(response.body.count))
    if close {
      buffer.writeStaticString("\r\nconnection: close")
    } else if keepAlive10 {
      buffer.writeStaticString("\r\nconnection: keep-alive")
    }
    buffer.writeStaticString("\r\ndate: ")
    buffer.writeString(date.value())
    buffer.writeStaticString("\r\n\r\n")
    if !withoutBody { buffer.writeBytes(response.body) }
  }

  /// False if the text contains a line break or another control character, which could inject a header.
  static func isSafe(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var isSafe = true
      for byte in utf8 { isSafe = isSafe && byte >= 0x20 || isSafe && byte == 0x09 }
      return isSafe
    }
  }
}
