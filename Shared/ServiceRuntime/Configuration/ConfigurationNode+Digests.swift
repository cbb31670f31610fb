import Cryptography

extension ConfigurationNode {
  /// The SHA-256 digests of tokens, given as one text or a list of texts.
  func tokenDigests() throws(ConfigurationError) -> [[UInt8]] {
    try texts().map { text throws(ConfigurationError) -> [UInt8] in
      guard let bytes = Hex.decode(text), bytes.count == 32 else {
        throw ConfigurationError(path, "must be the SHA-256 of the token as 64 hexadecimal digits")
      }
      return bytes
    }
  }
}
