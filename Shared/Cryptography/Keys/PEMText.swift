import COpenSSL

/// A text that libcrypto reads as a stream.
enum PEMText {
  /// libcrypto reads from the text's own memory, so that memory has to outlive the reading: a string passed as a pointer lives
  /// only for one call. The copy is wiped, since it may be a private key.
  static func read(_ text: String, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    var bytes = Array(text.utf8)
    defer { OPENSSL_cleanse(&bytes, bytes.count) }
    return bytes.withUnsafeBytes { read($0, body) }
  }

  /// The same, of bytes that the caller keeps and wipes.
  static func read(_ bytes: UnsafeRawBufferPointer, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let length = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, length) else { return nil }
    defer { BIO_free(bio) }
    return body(bio)
  }
}
