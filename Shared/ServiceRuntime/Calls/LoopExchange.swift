import HTTPClient
import NIOCore

/// A request and its waiting caller. It must be used only on its event loop.
final class LoopExchange {
  typealias Continuation = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

  /// The error code of a response that is not parsed here.
  static let unreadable = -1

  /// The encoded request.
  let bytes: ByteBuffer
  let timeout: Duration
  let maxResponseBytes: Int
  let isRepeatable: Bool
  var wasResent = false
  var timer: Scheduled<Void>?
  var connection: LoopConnection?
  private var waiting: Continuation?

  init(_ request: HTTPClientRequest, path: Substring, authority: String, _ waiting: Continuation) {
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

  /// Resumes the caller, once.
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
    timer?.cancel()
    timer = nil
    connection = nil
    waiting?.resume(returning: result)
    waiting = nil
  }

  private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
