import COpenSSL

/// Streams in memory that libcrypto reads or writes.
enum MemoryBIO {
  /// Passes a stream of the bytes to `body`.
  static func reading<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes { buffer in
      let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))!
      defer { BIO_free(bio) }
      return try body(bio)
    }
  }

  /// Returns the bytes that `body` writes to a stream. `body` returns 1 if it succeeds; `operation` names it in the error.
  static func writing(_ operation: String, _ body: (OpaquePointer) -> Int32) throws -> [UInt8] {
    let bio = BIO_new(BIO_s_mem())!
    defer { BIO_free(bio) }
    guard body(bio) == 1 else { throw OpenSSLError(operation) }
    var bytes = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(bio)))
    let read = BIO_read(bio, &bytes, Int32(bytes.count))
    return Array(bytes.prefix(Int(max(0, read))))
  }
}
