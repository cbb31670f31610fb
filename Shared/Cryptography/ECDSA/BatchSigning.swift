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
/// Each signature needs two modular inversions, and many numbers can be inverted for little more than the price of one
/// (`COpenSSL/batch_signing.c`). Each signature has its own nonce, which is derived within the call from the key, the digest and fresh
/// random bytes. No nonce is made in advance.
public enum BatchSigning {
  /// The signatures, in the order of the tasks. If a key is in a token, or signing together fails, the tasks are signed one by one.
  public static func sign(_ tasks: [SigningTask]) -> [Result<ECDSASignature, SignatureError>] {
    var keys: [OpaquePointer?] = []
    var digests: [UInt8] = []
    keys.reserveCapacity(tasks.count)
    digests.reserveCapacity(32 * tasks.count)
    for task in tasks {
      guard let key = task.key.batchKey else { return tasks.map(signSingly) }
      keys.append(key)
      digests += SHA256Digest.hash(task.message)
    }
    var made = false
    let signatures = [UInt8](unsafeUninitializedCapacity: 64 * tasks.count) { buffer, count in
      made = copenssl_sign_batch(keys, digests, tasks.count, buffer.baseAddress) == 1
      count = made ? buffer.count : 0
    }
    // Both branches extend the tasks' lifetime, so that the keys still exist while the C function uses them.
    guard made else {
      ERR_clear_error()
      return withExtendedLifetime(tasks) { tasks.map(signSingly) }
    }
    return withExtendedLifetime(tasks) {
      tasks.indices.map { .success(ECDSASignature(rawP256InRange: signatures[64 * $0..<64 * ($0 + 1)])) }
    }
  }

  private static func signSingly(_ task: SigningTask) -> Result<ECDSASignature, SignatureError> {
    Result { () throws(SignatureError) in try task.key.sign(task.message) }
  }
}
