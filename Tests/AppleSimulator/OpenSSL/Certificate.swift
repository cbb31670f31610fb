import COpenSSL

/// An X.509 certificate.
public final class Certificate: @unchecked Sendable {  // X509 does not change after the builder has returned it: safe to share
  let raw: OpaquePointer

  /// Takes ownership of the pointer, which `deinit` frees.
  init(owning raw: OpaquePointer) { self.raw = raw }

  public init(pem: String) throws {
    let read = MemoryBIO.reading(Array(pem.utf8)) { PEM_read_bio_X509($0, nil, nil, nil) }
    guard let read else { throw OpenSSLError("read certificate") }
    raw = read
  }

  deinit { X509_free(raw) }

  public func pem() throws -> String {
    String(decoding: try MemoryBIO.writing("write certificate") { PEM_write_bio_X509($0, raw) }, as: UTF8.self)
  }

  public func der() throws -> [UInt8] {
    var pointer: UnsafeMutablePointer<UInt8>?
    let count = i2d_X509(raw, &pointer)
    guard count > 0, let pointer else { throw OpenSSLError("write certificate") }
    defer { CRYPTO_free(pointer, #fileID, #line) }
    return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
  }
}
