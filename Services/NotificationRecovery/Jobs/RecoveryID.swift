import Cryptography

/// A job's name, made from what the job is: started twice, it is one job.
enum RecoveryID {
  static func make(_ parts: [String]) -> String {
    Hex.encode(SHA256Digest.hash(parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")).prefix(16))
  }
}
