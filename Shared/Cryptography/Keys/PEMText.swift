import COpenSSL

/// A text that libcrypto reads as a stream.
enum PEMText {
  /// libcrypto reads from the text's own memory, so that memory has to outlive the reading: a string passed as a pointer lives
  /// only for one call. The copy is wiped, since it may be a private key.
  static func read(_ text: String, _ body: (_ bio: OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard text.utf8.count <= Int(Int32.max) else { return nil }
    var bytes = Array(text.utf8)
    return bytes.withUnsafeMutableBufferPointer { buffer in
      defer { OPENSSL_cleanse(buffer.baseAddress, buffer.count) }
      guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
      defer { BIO_free(bio) }
      return body(bio)
    }
  }
}
