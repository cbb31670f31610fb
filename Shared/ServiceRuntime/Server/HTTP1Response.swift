import NIOCore
import NIOHTTP1

#if canImport(Glibc)
  import Glibc
#endif

/// Writes an answer as HTTP/1.1, head and body in one buffer: one write to the socket for what is small, which most is.
struct HTTP1Response {
  private var second = 0
  private var date: [UInt8] = []

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
    refreshDate()
    buffer.writeBytes(date)
    buffer.writeStaticString("\r\n\r\n")
    if !withoutBody { buffer.writeBytes(answer.body) }
  }

  /// A line break inside a value would let its author write headers of his own.
  private static func isSafe(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var safe = true
      for byte in utf8 { safe = safe && byte >= 0x20 || safe && byte == 0x09 }
      return safe
    }
  }

  /// RFC 9110 section 6.6.1, made once a second.
  private mutating func refreshDate() {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    guard now.tv_sec != second else { return }
    second = now.tv_sec
    var parts = tm()
    gmtime_r(&now.tv_sec, &parts)
    // Not strftime: its names follow the locale.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    date = Array("\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT".utf8)
  }
}
