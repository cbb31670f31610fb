import COpenSSL

/// A message and the key for its signature.
public struct SigningTask: Sendable {
  public let message: [UInt8]
  public let key: SigningKey

  public init(message: [UInt8], key: SigningKey) {
    self.message = message
    self.key = key
  }
}

/// Makes several signatures together: ECDSA over SHA-256 with P-256.
///
/// Two of the three expensive parts of a signature are inversions, and many numbers can be inverted for the price of one. Each signature
/// has its own nonce, made of its key, its digest and fresh random bytes within the call; none is made in advance.
public enum BatchSigning {
  /// The signatures in the order of the tasks. Keys in a token sign one after the other.
  public static func sign(_ tasks: [SigningTask]) -> [Result<ECDSASignature, SignatureError>] {
    var keys: [OpaquePointer?] = []
    var digests: [UInt8] = []
    keys.reserveCapacity(tasks.count)
    digests.reserveCapacity(32 * tasks.count)
    for task in tasks {
      guard let key = task.key.batchKey else { return tasks.map(alone) }
      keys.append(key)
      digests += SHA256Digest.hash(task.message)
    }
    var made = false
    let signatures = [UInt8](unsafeUninitializedCapacity: 64 * tasks.count) { buffer, count in
      made = copenssl_sign_batch(keys, digests, tasks.count, buffer.baseAddress) == 1
      count = made ? buffer.count : 0
    }
    // Keeps the keys alive until here.
    guard made else {
      ERR_clear_error()
      return withExtendedLifetime(tasks) { tasks.map(alone) }
    }
    return withExtendedLifetime(tasks) {
      tasks.indices.map { .success(ECDSASignature(made: signatures[64 * $0..<64 * ($0 + 1)])) }
    }
  }

  private static func alone(_ task: SigningTask) -> Result<ECDSASignature, SignatureError> {
    Result { () throws(SignatureError) in try task.key.sign(task.message) }
  }
}
