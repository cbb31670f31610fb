import Cryptography

/// Makes a job's id from its parameters, so that the same job is started once.
enum RecoveryID {
  static func make(_ parts: [String]) -> String {
    Hex.encode(SHA256Digest.hash(parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")).prefix(16))
  }
}
