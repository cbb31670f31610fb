import HTTPClient
import NIOCore

/// A request and the continuation of its caller. Used only on its event loop.
final class LoopExchange {
  typealias Continuation = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

  /// The code in `HTTPClientError.other` of a response that ``ResponseHead`` does not support. Codes of curl are positive.
  static let unsupported = -1

  /// The encoded request with its body.
  let bytes: ByteBuffer
  let timeout: Duration
  let maxResponseBytes: Int
  let isRepeatable: Bool
  var wasResent = false
  var timer: Scheduled<Void>?
  var connection: LoopConnection?
  /// Nil after the caller was resumed.
  private var continuation: Continuation?

  init(_ request: HTTPClientRequest, path: Substring, authority: String, _ continuation: Continuation) {
    self.continuation = continuation
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
    // Headers with control characters are left out, because they could inject other headers.
    for (name, value) in request.headers where Self.isSafe(name) && Self.isSafe(value) {
      bytes.writeString(name)
      bytes.writeString(": ")
      bytes.writeString(value)
      bytes.writeString("\r\n")
    }
    bytes.writeString("Content-Length: \(body.count)\r\n\r\n")
    bytes.writeBytes(body)
    self.bytes = bytes
  }

  var isOver: Bool { continuation == nil }

  /// Resumes the caller with the result. Further calls do nothing.
  func end(_ result: Result<HTTPClientResponse, HTTPClientError>) {
    timer?.cancel()
    timer = nil
    connection = nil
    continuation?.resume(returning: result)
    continuation = nil
  }

  private static func isSafe(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}
