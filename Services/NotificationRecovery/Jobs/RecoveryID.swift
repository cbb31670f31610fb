import Cryptography

/// Makes an id from the parameters of a job, so that the same job is started once. Gaps, migrations and extensions get their ids here too.
enum RecoveryID {
  /// The id: 32 hexadecimal digits of a SHA-256 digest. The length of each part is included, so that different parts give different ids.
  static func make(_ parts: [String]) -> String {
    Hex.encode(SHA256Digest.hash(parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")).prefix(16))
  }
}
