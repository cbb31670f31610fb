import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import Cryptography

/// Numbers modulo the order of a curve, computed by OpenSSL, to create signatures that no signer would create.
private final class Scalar: @unchecked Sendable {  // never changed after its creation
  let curve: Curve
  let number: OpaquePointer

  init(_ bytes: [UInt8], _ curve: Curve) {
    self.curve = curve
    number = BN_bin2bn(bytes, Int32(bytes.count), nil)
  }
  private init(_ number: OpaquePointer, _ curve: Curve) {
    self.curve = curve
    self.number = number
  }
  deinit { BN_free(number) }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: curve.width)
    _ = BN_bn2binpad(number, &bytes, Int32(bytes.count))
    return bytes
  }

  private func apply(_ body: (OpaquePointer, OpaquePointer, OpaquePointer) -> Void) -> Scalar {
    let result = Scalar(BN_new()!, curve)
    let order = Scalar(curve.order, curve)
    let context = BN_CTX_new()!
    defer { BN_CTX_free(context) }
    body(result.number, order.number, context)
    return result
  }

  func times(_ other: Scalar) -> Scalar { apply { BN_mod_mul($0, number, other.number, $1, $2) } }
  func minus(_ other: Scalar) -> Scalar { apply { BN_mod_sub($0, number, other.number, $1, $2) } }
  var inverse: Scalar { apply { _ = BN_mod_inverse($0, number, $1, $2) } }
  var negative: Scalar { Scalar([0], curve).minus(self) }
}

/// A key pair with a private number that is accessible to the test.
private final class TestKey: @unchecked Sendable {  // never changed after its creation
  let raw: OpaquePointer
  let publicKey: PublicKey
  var curve: Curve { publicKey.curve }

  init(_ curve: Curve) throws {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(context)
    EVP_PKEY_CTX_set_group_name(context, curve == .p256 ? "P-256" : "P-384")
    EVP_PKEY_keygen(context, &key)
    raw = try #require(key)
    EVP_PKEY_up_ref(raw)
    publicKey = try PublicKey(owning: raw)
  }
  deinit { EVP_PKEY_free(raw) }

  var secret: Scalar {
    var number: OpaquePointer?
    EVP_PKEY_get_bn_param(raw, OSSL_PKEY_PARAM_PRIV_KEY, &number)
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: curve.width)
    BN_bn2binpad(number, &bytes, Int32(bytes.count))
    return Scalar(bytes, curve)
  }

  func sign(_ digest: [UInt8]) throws -> ECDSASignature {
    let context = EVP_PKEY_CTX_new(raw, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var der = [UInt8](repeating: 0, count: 150)
    var length = der.count
    EVP_PKEY_sign_init(context)
    #expect(EVP_PKEY_sign(context, &der, &length, digest, digest.count) == 1)
    return try ECDSASignature(der: Array(der.prefix(length)), curve: curve)
  }
}

@Suite("A key with tables of its own") struct PreparedPublicKeyTests {
  /// Two millions with `ATTRIBUTION_SOAK`.
  private static func count(_ curve: Curve) -> Int {
    if ProcessInfo.processInfo.environment["ATTRIBUTION_SOAK"] != nil { return curve == .p256 ? 2_000_000 : 200_000 }
    return curve == .p256 ? 3000 : 1000
  }

  private func raw(_ r: [UInt8], _ s: [UInt8], _ curve: Curve) -> ECDSASignature? { try? ECDSASignature(raw: r + s, curve: curve) }

  @Test("every result equals OpenSSL's, for valid, damaged and extreme signatures", arguments: [Curve.p256, .p384])
  func differential(curve: Curve) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let keys = try (0..<4).map { _ in try TestKey(curve) }
    let prepared = keys.map { PreparedPublicKey($0.publicKey) }
    for key in prepared { #expect(key.isPrepared) }
    let width = curve.width
    let order = curve.order
    var oneLess = order
    oneLess[width - 1] -= 1
    let one = [UInt8](repeating: 0, count: width - 1) + [1]
    var accepted = 0
    for round in 0..<Self.count(curve) {
      let which = Int.random(in: 0..<4, using: &random)
      // Shorter than the curve, of equal width, and longer, in which case its leftmost bytes count.
      let digest = random.bytes([20, 32, 48, 64].randomElement(using: &random)!)
      let signature = try keys[which].sign(digest)
      var (r, s, said) = (signature.r, signature.s, digest)
      switch round % 10 {
      case 0, 1, 2: break
      case 3: r[Int.random(in: 0..<width, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 4: s[Int.random(in: 0..<width, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 5: said[Int.random(in: 0..<said.count, using: &random)] ^= 1
      // The other s of the same signature is valid too.
      case 6: s = Scalar(s, curve).negative.bytes
      case 7: r = [one, oneLess].randomElement(using: &random)!
      case 8: s = [one, oneLess].randomElement(using: &random)!
      default: (r, s) = (s, r)
      }
      guard let tried = raw(r, s, curve) else { continue }
      let answer = prepared[which].verifies(tried, digest: said)
      #expect(answer == keys[which].publicKey.verifies(tried, digest: said), "seed \(seed), round \(round)")
      if curve == .p384 { #expect(answer == keys[which].publicKey.verifiesP384(tried, digest: said), "seed \(seed), round \(round)") }
      if answer { accepted += 1 }
      let other = (which + 1) % 4
      if round % 50 == 0 { #expect(!prepared[other].verifies(tried, digest: said)) }
    }
    // Three in ten are unchanged, and one has its other s.
    #expect(accepted >= Self.count(curve) * 4 / 10)
  }

  @Test("digests of only zeros or ones, and sums that coincide, cancel or double", arguments: [Curve.p256, .p384])
  func edges(curve: Curve) throws {
    let key = try TestKey(curve)
    let prepared = PreparedPublicKey(key.publicKey)
    let secret = key.secret
    let zero = [UInt8](repeating: 0, count: curve.width)
    func number(_ text: String) -> [UInt8] { Array((SHA256Digest.hash(text) + SHA256Digest.hash(text + "+")).prefix(curve.width)) }
    func agree(_ r: [UInt8], _ s: [UInt8], _ digest: [UInt8], _ what: String) -> Bool? {
      guard let signature = raw(r, s, curve) else { return nil }
      let answer = prepared.verifies(signature, digest: digest)
      #expect(answer == key.publicKey.verifies(signature, digest: digest), "\(what)")
      if curve == .p384 { #expect(answer == key.publicKey.verifiesP384(signature, digest: digest), "\(what)") }
      return answer
    }
    for digest in [zero, curve.order, [UInt8](repeating: 0xFF, count: curve.width)] {
      for round in 0..<(curve == .p256 ? 200 : 50) {
        let r = number("r\(round)")
        let s = number("s\(round)")
        _ = agree(r, s, digest, "random r and s")
        // u1 G = −u2 Q: the digest is −r d, and the sum is the point at infinity.
        let cancelling = Scalar(r, curve).times(secret).negative.bytes
        #expect(agree(r, s, cancelling, "the sum is at infinity") != true)
        // u1 G = u2 Q: the digest is r d, and the sum is a doubling.
        _ = agree(r, s, Scalar(r, curve).times(secret).bytes, "the sum is a doubling")
      }
    }
    // A valid doubling: k = 2 u1 with u1 = u2 d. Choose k; r is x of k G; s = 2 r d / k; the digest is r d.
    let signed = number("signed")
    let signature = try key.sign(signed)
    let k = nonce(of: signature, digest: signed, secret: secret)
    let s = Scalar([2], curve).times(Scalar(signature.r, curve)).times(secret).times(k.inverse)
    #expect(agree(signature.r, s.bytes, Scalar(signature.r, curve).times(secret).bytes, "a doubling that is right") == true)
    // A valid digest of zeros: s = r d / k.
    let zeroed = Scalar(signature.r, curve).times(secret).times(k.inverse)
    #expect(agree(signature.r, zeroed.bytes, zero, "a digest of zeros that is right") == true)
  }

  /// The order is less than the field's prime, so r is x minus the order if x is not below the order. Such a signature occurs once in
  /// 2^128, so these were computed from the x: the digest is SHA-256 of "beyond the order".
  @Test(
    "an x that is not below the order counts by its residue",
    arguments: [
      (
        Curve.p256, 3 as UInt8, "2c1ee68372215b1ce064426b5cdbd4ef2581ace0dd3b21fa2be27f364827242e",
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEmZC0khnbn/U0ELHBciYTKf6+87MfGn250woZOJdNNvLlIxEmSiX2kxfqv1/QWSs5rnxXtuQNXP5jiYHtVFyu+g=="
      ),
      (
        Curve.p384, 2 as UInt8,
        "2c1ee68372215b1ce064426b5cdbd4ef2581ace0dd3b21fa2be27f364827242e83f68b68be03f5b3e24be5d1b4315f98",
        "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEEBnaA2YNzloayJch10OqrmsNTi3xSMGi4A0kUmkoutKn+HzN5JPVe6Morfh9EtF4Zn64JcFCJqVmFBWekxy9f4PXWnvZ"
          + "PIFWa5QZgECwU7oh9klfSia35EsOlAFrq2dA"
      ),
    ])
  func beyondTheOrder(curve: Curve, residue: UInt8, s: String, encoded: String) throws {
    let key = try PublicKey(subjectPublicKeyInfo: try #require(Base64.decode(encoded)))
    let prepared = PreparedPublicKey(key)
    #expect(prepared.isPrepared)
    let digest = SHA256Digest.hash("beyond the order")
    let s = try #require(Hex.decode(s))
    for last in 1...20 as ClosedRange<UInt8> {
      let signature = try #require(raw([UInt8](repeating: 0, count: curve.width - 1) + [last], s, curve))
      #expect(prepared.verifies(signature, digest: digest) == (last == residue))
      #expect(key.verifies(signature, digest: digest) == (last == residue))
      if curve == .p384 { #expect(key.verifiesP384(signature, digest: digest) == (last == residue)) }
    }
  }

  /// If the tables' arithmetic fails, OpenSSL's usual method is used, which the results do not show.
  @Test("the tables give the results themselves", arguments: [(Curve.p256, COPENSSL_FIXED_P256), (.p384, COPENSSL_FIXED_P384)])
  func answers(curve: Curve, bits: Int) throws {
    let key = try TestKey(curve)
    let point = try #require(key.publicKey.encodedPoint)
    let tables = try #require(copenssl_fixed_point_new(Int32(bits), point, point.count))
    defer { copenssl_fixed_point_free(tables) }
    for round in 0..<50 as Range<UInt8> {
      let digest = [UInt8](repeating: round, count: 32)
      let signature = try key.sign(digest)
      var answers: [Int8] = [-1, -1]
      copenssl_fixed_point_verify(
        tables, 2, digest + [99] + digest.dropFirst(), digest.count, signature.raw + signature.raw, &answers)
      #expect(answers == [1, 0])
    }
  }

  /// Signatures that cannot be ``ECDSASignature``: the numbers are out of range.
  @Test("a number out of range is invalid and does not change the results of other signatures", arguments: [Curve.p256, .p384])
  func outOfRange(curve: Curve) throws {
    let key = try TestKey(curve)
    let point = try #require(key.publicKey.encodedPoint)
    let tables = try #require(copenssl_fixed_point_new(Int32(8 * curve.width), point, point.count))
    defer { copenssl_fixed_point_free(tables) }
    let digest = [UInt8](repeating: 7, count: 32)
    let zero = [UInt8](repeating: 0, count: curve.width)
    let good = try key.sign(digest)
    let signatures = [
      good.raw, zero + good.s, good.raw, good.r + zero, curve.order + good.s, good.r + curve.order,
      [UInt8](repeating: 0xFF, count: 2 * curve.width), good.raw,
    ]
    var answers = [Int8](repeating: -1, count: signatures.count)
    copenssl_fixed_point_verify(
      tables, signatures.count, [[UInt8]](repeating: digest, count: signatures.count).flatMap(\.self), digest.count,
      signatures.flatMap(\.self), &answers)
    #expect(answers == [1, 0, 1, 0, 0, 0, 0, 1])
    answers = [-1, -1]
    copenssl_fixed_point_verify(tables, 2, digest + digest, digest.count, zero + zero + good.r + zero, &answers)
    #expect(answers == [0, 0])
    copenssl_fixed_point_verify(tables, 0, digest, digest.count, good.raw, &answers)
    #expect(answers == [0, 0])
  }

  @Test("signatures verified together get the results of each alone", arguments: [Curve.p256, .p384])
  func together(curve: Curve) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let key = try TestKey(curve)
    let other = try TestKey(curve)
    let prepared = PreparedPublicKey(key.publicKey)
    // Around the numbers of signatures that share an inverse.
    for count in [0, 1, 2, 31, 32, 33, 64, 65] + (0..<(curve == .p256 ? 30 : 3)).map({ _ in Int.random(in: 0...80, using: &random) }) {
      var expected: [Bool] = []
      let signatures = try (0..<count).map { _ in
        var message = random.bytes(Int.random(in: 0..<100, using: &random))
        var signature = try (Int.random(in: 0..<5, using: &random) == 0 ? other : key).sign(SHA256Digest.hash(message))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: message.append(1)
        case 1: signature = try ECDSASignature(raw: signature.r + signature.r, curve: curve)
        default: break
        }
        expected.append(key.publicKey.verifies(signature, of: message))
        return (signature: signature, message: message)
      }
      #expect(prepared.verifies(signatures) == expected, "seed \(seed), \(count) signatures")
    }
  }

  @Test("signatures of several curves verified together get the results of each alone")
  func curvesTogether() throws {
    let key = try TestKey(.p256)
    let message = Array("message".utf8)
    let digest = SHA256Digest.hash(message)
    let signatures = [
      (signature: try key.sign(digest), message: message), (signature: try TestKey(.p384).sign(digest), message: message),
      (signature: try key.sign(digest), message: message + [0]), (signature: try key.sign(digest), message: message),
    ]
    #expect(PreparedPublicKey(key.publicKey).verifies(signatures) == [true, false, false, true])
    let p192 = "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEMyHD625uvsmGq4C43cQ9BnfN2xslVT5V1nOmAMP6qaRRUll3PB1JYmgSm+62sosG"
    let unprepared = PreparedPublicKey(try PublicKey(subjectPublicKeyInfo: try #require(Base64.decode(p192))))
    #expect(unprepared.verifies(signatures) == [false, false, false, false])
  }

  @Test("several threads get correct results concurrently", arguments: [Curve.p256, .p384])
  func threads(curve: Curve) async throws {
    let key = try TestKey(curve)
    let prepared = PreparedPublicKey(key.publicKey)
    let signatures = try (0..<50).map { ([UInt8](repeating: $0, count: 32), try key.sign([UInt8](repeating: $0, count: 32))) }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          signatures.allSatisfy { digest, signature in
            prepared.verifies(signature, digest: digest) && !prepared.verifies(signature, digest: [99] + digest.dropFirst())
          }
        }
      }
      for await right in group { #expect(right) }
    }
  }

  @Test("a signature of another curve is invalid")
  func otherSignatures() throws {
    let prepared = PreparedPublicKey(try TestKey(.p384).publicKey)
    let signature = try TestKey(.p256).sign([UInt8](repeating: 1, count: 32))
    #expect(!prepared.verifies(signature, digest: [UInt8](repeating: 1, count: 32)))
  }

  @Test("a key of P-192 is checked by the usual method")
  func otherCurves() throws {
    let p192 = "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEMyHD625uvsmGq4C43cQ9BnfN2xslVT5V1nOmAMP6qaRRUll3PB1JYmgSm+62sosG"
    let key = try PublicKey(subjectPublicKeyInfo: try #require(Base64.decode(p192)))
    let prepared = PreparedPublicKey(key)
    #expect(!prepared.isPrepared)
    let signature = try ECDSASignature(raw: [UInt8](repeating: 1, count: 48), curve: .p192)
    #expect(!prepared.verifies(signature, of: [1]))
  }

  /// The k of a signature whose private key is known: (z + r d) / s.
  private func nonce(of signature: ECDSASignature, digest: [UInt8], secret: Scalar) -> Scalar {
    let rd = Scalar(signature.r, signature.curve).times(secret)
    return Scalar(digest, signature.curve).minus(rd.negative).times(Scalar(signature.s, signature.curve).inverse)
  }
}
