import COpenSSL

/// An error of libcrypto.
public struct OpenSSLError: Error, Sendable, CustomStringConvertible {
  /// What was attempted, such as `read certificate`.
  public let operation: String
  /// The text of the last entry of the error queue.
  public let reason: String

  /// Takes the last error from this thread's error queue and empties the queue.
  init(_ operation: String) {
    self.operation = operation
    var last: UInt = 0
    while true {
      let code = ERR_get_error()
      if code == 0 { break }
      last = UInt(code)
    }
    if last == 0 {
      reason = "no reason given"
    } else {
      reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        ERR_error_string_n(last, buffer.baseAddress, buffer.count)
        return String(cString: buffer.baseAddress!)
      }
    }
  }

  public var description: String { "\(operation): \(reason)" }
}
