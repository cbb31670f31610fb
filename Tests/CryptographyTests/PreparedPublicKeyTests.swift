import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import Cryptography

/// Numbers modulo the order of P-256, by OpenSSL's big numbers: what the test needs to make signatures that no signer would.
private final class Scalar: @unchecked Sendable {  // not changed after it is made
  static let order = Scalar(Curve.p256.order)
  let number: OpaquePointer

  init(_ bytes: [UInt8]) { number = BN_bin2bn(bytes, Int32(bytes.count), nil) }
  private init(_ number: OpaquePointer) { self.number = number }
  deinit { BN_free(number) }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    _ = BN_bn2binpad(number, &bytes, 32)
    return bytes
  }

  func apply(_ body: (OpaquePointer, OpaquePointer) -> Void) -> Scalar {
    let result = Scalar(BN_new()!)
    let context = BN_CTX_new()!
    defer { BN_CTX_free(context) }
    body(result.number, context)
    return result
  }

  func times(_ other: Scalar) -> Scalar { apply { BN_mod_mul($0, number, other.number, Scalar.order.number, $1) } }
  func minus(_ other: Scalar) -> Scalar { apply { BN_mod_sub($0, number, other.number, Scalar.order.number, $1) } }
  var inverse: Scalar { apply { _ = BN_mod_inverse($0, number, Scalar.order.number, $1) } }
  var negative: Scalar { Scalar([0]).minus(self) }
}

@Suite("A key with tables of its own") struct PreparedPublicKeyTests {
  /// Soak: two millions.
  private static let count = ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] == nil ? 3000 : 2_000_000

  private func raw(_ r: [UInt8], _ s: [UInt8]) -> ECDSASignature? { try? ECDSASignature(raw: r + s, curve: .p256) }

  @Test("every answer is OpenSSL's own, for what is right, damaged and at the edges")
  func differential() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let keys = try (0..<4).map { _ in try SigningKey.generate() }
    let prepared = keys.map { PreparedPublicKey($0.publicKey) }
    for key in prepared { #expect(key.isPrepared) }
    let order = Curve.p256.order
    var oneLess = order
    oneLess[31] -= 1
    let one = [UInt8](repeating: 0, count: 31) + [1]
    var accepted = 0
    for round in 0..<Self.count {
      let which = Int.random(in: 0..<4, using: &random)
      let message = (0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let signature = try keys[which].sign(message)
      var (r, s, said) = (signature.r, signature.s, message)
      switch round % 10 {
      case 0, 1, 2: break
      case 3: r[Int.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 4: s[Int.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 5: said.append(0)
      // The other s of the same signature is as good.
      case 6: s = Scalar(s).negative.bytes
      case 7: r = [one, oneLess].randomElement(using: &random)!
      case 8: s = [one, oneLess].randomElement(using: &random)!
      default: (r, s) = (s, r)
      }
      guard let tried = raw(r, s) else { continue }
      let answer = prepared[which].verifies(tried, of: said)
      #expect(answer == keys[which].publicKey.verifies(tried, of: said), "seed \(seed), round \(round)")
      if answer { accepted += 1 }
      let other = (which + 1) % 4
      if round % 50 == 0 { #expect(!prepared[other].verifies(tried, of: said)) }
    }
    // Three kinds in ten are left as they were, and one has its other s.
    #expect(accepted >= Self.count * 4 / 10)
  }

  @Test("digests of nothing but zeros and ones, and sums that meet, cancel or double")
  func edges() throws {
    let key = try SigningKey.generate()
    let prepared = PreparedPublicKey(key.publicKey)
    let secret = try Scalar(privateScalar(of: key))
    let zero = [UInt8](repeating: 0, count: 32)
    func agree(_ r: [UInt8], _ s: [UInt8], _ digest: [UInt8], _ what: String) -> Bool? {
      guard let signature = raw(r, s) else { return nil }
      let answer = prepared.verifies(signature, digest: digest)
      #expect(answer == key.publicKey.verifies(signature, digest: digest), "\(what)")
      return answer
    }
    for digest in [zero, Curve.p256.order, [UInt8](repeating: 0xFF, count: 32)] {
      for round in 0..<200 {
        let r = SHA256Digest.hash("r\(round)")
        let s = SHA256Digest.hash("s\(round)")
        _ = agree(r, s, digest, "random r and s")
        // u1 G = −u2 Q: the digest is −r d, and the sum is no point at all.
        let cancelling = Scalar(r).times(secret).negative.bytes
        #expect(agree(r, s, cancelling, "the sum is at infinity") != true)
        // u1 G = u2 Q: the digest is r d, and the sum is a doubling.
        _ = agree(r, s, Scalar(r).times(secret).bytes, "the sum is a doubling")
      }
    }
    // A doubling that is right: k = 2 u1 with u1 = u2 d. Choose k; r is x of k G; s = 2 r d / k; the digest is r d.
    let signature = try key.sign([1, 2, 3])
    let k = nonce(of: signature, digest: SHA256Digest.hash([1, 2, 3]), secret: secret)
    let s = Scalar([2]).times(Scalar(signature.r)).times(secret).times(k.inverse)
    #expect(agree(signature.r, s.bytes, Scalar(signature.r).times(secret).bytes, "a doubling that is right") == true)
    // A digest of zeros that is right: s = r d / k.
    let zeroed = Scalar(signature.r).times(secret).times(k.inverse)
    #expect(agree(signature.r, zeroed.bytes, zero, "a digest of zeros that is right") == true)
  }

  @Test("many threads at once get the right answers")
  func threads() async throws {
    let key = try SigningKey.generate()
    let prepared = PreparedPublicKey(key.publicKey)
    let signatures = try (0..<50).map { ([UInt8($0)], try key.sign([UInt8($0)])) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          signatures.allSatisfy { message, signature in
            prepared.verifies(signature, of: message) && !prepared.verifies(signature, of: message + [0])
          }
        }
      }
      for await right in group { #expect(right) }
    }
  }

  @Test("a key of another curve is checked the usual way")
  func otherCurves() throws {
    let p192 = "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEMyHD625uvsmGq4C43cQ9BnfN2xslVT5V1nOmAMP6qaRRUll3PB1JYmgSm+62sosG"
    let key = try PublicKey(subjectPublicKeyInfo: try #require(Base64.decode(p192)))
    let prepared = PreparedPublicKey(key)
    #expect(!prepared.isPrepared)
    let signature = try ECDSASignature(raw: [UInt8](repeating: 1, count: 48), curve: .p192)
    #expect(!prepared.verifies(signature, of: [1]))
  }

  /// k of a signature whose key is known: (z + r d) / s.
  private func nonce(of signature: ECDSASignature, digest: [UInt8], secret: Scalar) -> Scalar {
    let rd = Scalar(signature.r).times(secret)
    return Scalar(digest).minus(rd.negative).times(Scalar(signature.s).inverse)
  }

  /// The private number, from the key's own PEM: an OCTET STRING of 32 bytes in its ECPrivateKey.
  private func privateScalar(of key: SigningKey) throws -> [UInt8] {
    let text = key.pem.split(separator: "\n").dropFirst().dropLast().joined()
    let der = try #require(Base64.decode(text))
    let mark: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
    let start = try #require((0..<der.count - 37).first { Array(der[$0..<$0 + 5]) == mark })
    return Array(der[start + 5..<start + 37])
  }
}
