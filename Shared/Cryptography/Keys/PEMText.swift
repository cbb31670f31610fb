import COpenSSL

/// Gives a text to a function of libcrypto that reads from a stream (BIO).
enum PEMText {
  /// libcrypto reads directly from the text's memory, which must outlive the call. A Swift string passed as a pointer would not, so the
  /// text is copied. The copy is wiped, because it may be a private key.
  static func read(_ text: String, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    var bytes = Array(text.utf8)
    defer { OPENSSL_cleanse(&bytes, bytes.count) }
    return bytes.withUnsafeBytes { read($0, body) }
  }

  /// The same for bytes that the caller keeps and wipes.
  static func read(_ bytes: UnsafeRawBufferPointer, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let length = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, length) else { return nil }
    defer { BIO_free(bio) }
    return body(bio)
  }
}
