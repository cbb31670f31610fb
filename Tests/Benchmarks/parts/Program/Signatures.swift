import Crypto
import Cryptography

/// P-256 signatures beside swift-crypto.
struct Signatures {
  private static let batch = 16
  private let key: SigningKey
  private let theirs: P256.Signing.PrivateKey
  private let messages = (0..<batch).map { index in [UInt8](repeating: UInt8(index), count: 120) }

  init() throws {
    key = try SigningKey.generate()
    theirs = try P256.Signing.PrivateKey(pemRepresentation: key.pem)
  }

  func measure(_ rounds: Rounds) throws {
    let tasks = messages.map { SigningTask(message: $0, key: key) }
    try rounds.compare(
      "sign",
      ours: {
        for result in BatchSigning.sign(tasks) { _ = try result.get() }
        return tasks.count
      },
      library: {
        for message in messages { _ = try theirs.signature(for: message) }
        return messages.count
      })

    let signatures = try messages.map { (signature: try key.sign($0), message: $0) }
    let prepared = PreparedPublicKey(key.publicKey)
    let theirSignatures = try signatures.map { try P256.Signing.ECDSASignature(rawRepresentation: $0.signature.raw) }
    try rounds.compare(
      "verify",
      ours: {
        for one in signatures { precondition(prepared.verifies(one.signature, of: one.message)) }
        return signatures.count
      },
      library: {
        for (signature, message) in zip(theirSignatures, messages) {
          precondition(theirs.publicKey.isValidSignature(signature, for: message))
        }
        return messages.count
      })
    try rounds.compare(
      "verify together",
      ours: {
        precondition(prepared.verifies(signatures).allSatisfy { $0 })
        return signatures.count
      },
      library: {
        for (signature, message) in zip(theirSignatures, messages) {
          precondition(theirs.publicKey.isValidSignature(signature, for: message))
        }
        return messages.count
      })
  }
}
