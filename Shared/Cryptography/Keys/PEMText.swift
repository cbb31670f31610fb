import COpenSSL

/// A text that libcrypto reads as a stream.
enum PEMText {
  /// libcrypto reads directly from the text's memory, which must outlive the call; a Swift string passed as a pointer would not. The copy
  /// is wiped, because it may be a private key.
  static func read(_ text: String, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    var bytes = Array(text.utf8)
    defer { OPENSSL_cleanse(&bytes, bytes.count) }
    return bytes.withUnsafeBytes { read($0, body) }
  }

  /// Reads bytes that the caller keeps and wipes.
  static func read(_ bytes: UnsafeRawBufferPointer, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let length = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, length) else { return nil }
    defer { BIO_free(bio) }
    return body(bio)
  }
}
