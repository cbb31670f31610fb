import TestSupport
import Testing

@testable import Cryptography

@Suite("The key of a chain") struct ChainKeyTests {
  @Test("its answers are the same before, during and after the creation of its tables")
  func same() async throws {
    let signer = try SigningKey.generate()
    let other = try SigningKey.generate()
    let key = ChainKey(signer.publicKey)
    var random = SeededRandom("chain key")
    for round in 0..<ChainKey.usesBeforeTables(.p256) + 50 {
      let message = random.bytes(20)
      // Creating signatures takes most of the time.
      if round % 10 > 0, round < ChainKey.usesBeforeTables(.p256) - 20 {
        let wrong = try ECDSASignature(raw: random.bytes(63) + [1], curve: .p256)
        #expect(!key.verifies(wrong, digest: SHA256Digest.hash(message)))
        continue
      }
      let signature = try signer.sign(message)
      #expect(key.verifies(signature, digest: SHA256Digest.hash(message)))
      #expect(!key.verifies(signature, digest: SHA256Digest.hash(message + [0])))
      #expect(!key.verifies(try other.sign(message), digest: SHA256Digest.hash(message)))
    }
    for _ in 0..<500 where !key.isPrepared { try await Task.sleep(for: .milliseconds(20)) }
    #expect(key.isPrepared)
    let signature = try signer.sign([1])
    #expect(key.verifies(signature, digest: SHA256Digest.hash([1])))
    #expect(!key.verifies(signature, digest: SHA256Digest.hash([2])))
  }
}
