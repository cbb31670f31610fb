import Foundation
import TestSupport
import Testing

@testable import Cryptography

@Suite("Batch signing") struct BatchSigningTests {
  private let keys: [SigningKey]

  init() throws { keys = try (0..<3).map { _ in try SigningKey.generate() } }

  private func tasks(_ count: Int, _ random: inout SeededRandom) -> [SigningTask] {
    (0..<count).map { _ in
      SigningTask(
        message: (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) },
        key: keys[Int.random(in: 0..<3, using: &random)])
    }
  }

  @Test("each signature verifies with its own key over its own message, for any number of them")
  func each() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    #expect(BatchSigning.sign([]).isEmpty)
    for count in [1, 2, 3, 4, 5, 15, 16, 17, 40] {
      let tasks = tasks(count, &random)
      let signatures = BatchSigning.sign(tasks)
      try #require(signatures.count == count)
      for (index, (task, signature)) in zip(tasks, signatures).enumerated() {
        let signature = try signature.get()
        #expect(task.key.publicKey.verifies(signature, of: task.message), "\(index) of \(count), seed \(seed)")
        let again = try ECDSASignature(der: signature.der, curve: .p256)
        #expect(again == signature)
        let raw = try ECDSASignature(raw: signature.raw, curve: .p256)
        #expect(raw == signature)
        // It does not verify with another key.
        for other in keys where other !== task.key {
          let verifies = other.publicKey.verifies(signature, of: task.message)
          #expect(!verifies)
        }
      }
    }
  }

  /// Two signatures with one nonce reveal the private key. Equal values of r show equal nonces.
  @Test("no nonce is used twice, not even for a message that is signed repeatedly, or on several threads")
  func nonces() async throws {
    let rounds = ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] == nil ? 60 : 20_000
    let task = SigningTask(message: Array("the same".utf8), key: keys[0])
    let seen = await withTaskGroup(of: [[UInt8]].self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<rounds).flatMap { _ in BatchSigning.sign(Array(repeating: task, count: 16)).compactMap { try? $0.get().r } }
        }
      }
      return await group.reduce(into: [[UInt8]]()) { $0 += $1 }
    }
    #expect(seen.count == 4 * 16 * rounds)
    #expect(Set(seen).count == seen.count)
  }

  @Test("leading zeros of r and s are encoded as DER requires")
  func der() throws {
    let task = SigningTask(message: Array("a".utf8), key: keys[1])
    var short = 0
    for _ in 0..<200 {
      for signature in BatchSigning.sign(Array(repeating: task, count: 16)) {
        let signature = try signature.get()
        if signature.r[0] == 0 || signature.s[0] == 0 { short += 1 }
        let again = try ECDSASignature(der: signature.der, curve: .p256)
        #expect(again == signature)
      }
    }
    // One in 128 has one, so 3,200 without any are practically impossible.
    #expect(short > 0)
  }
}
