import HTTPClient
import NIOCore

/// A request and whoever waits for its answer. Touched on its event loop alone.
final class LoopExchange {
  typealias Waiting = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

  /// The code of an answer that is not read here.
  static let unreadable = -1

  /// The request as it is sent.
  let bytes: ByteBuffer
  let timeout: Duration
  let maxResponseBytes: Int
  let isRepeatable: Bool
  var wasSentAnew = false
  var timer: Scheduled<Void>?
  var connection: LoopConnection?
  private var waiting: Waiting?

  init(_ request: HTTPClientRequest, path: Substring, authority: String, _ waiting: Waiting) {
    self.waiting = waiting
    timeout = request.timeout
    maxResponseBytes = request.maxResponseBytes
    isRepeatable = request.isRepeatable
    let body = request.body ?? []
    var bytes = ByteBufferAllocator().buffer(capacity: 512 + body.count)
    bytes.writeString(request.method)
    bytes.writeString(" ")
    bytes.writeSubstring(path)
    bytes.writeString(" HTTP/1.1\r\nHost: ")
    bytes.writeString(authority)
    bytes.writeString("\r\n")
    for (name, value) in request.headers where Self.isClean(name) && Self.isClean(value) {
      bytes.writeString(name)
      bytes.writeString(": ")
      bytes.writeString(value)
      bytes.writeString("\r\n")
    }
    bytes.writeString("Content-Length: \(body.count)\r\n\r\n")
    bytes.writeBytes(body)
    self.bytes = bytes
  }

  var isOver: Bool { waiting == nil }

  /// Answers whoever waits, once.
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
    timer?.cancel()
    timer = nil
    connection = nil
    waiting?.resume(returning: result)
    waiting = nil
  }

  private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
