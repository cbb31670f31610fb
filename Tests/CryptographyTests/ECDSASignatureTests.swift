import Cryptography
import TestSupport
import Testing

@Suite("ECDSA signatures")
struct ECDSASignatureTests {
  static let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")!

  static func der(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
    let body = [0x02, UInt8(r.count)] + r + [0x02, UInt8(s.count)] + s
    return [0x30, UInt8(body.count)] + body
  }

  @Test("DER and raw signatures are equivalent for any length of r and s")
  func forms() throws {
    var random = SeededRandom("signature forms")
    for curve in [Curve.p192, .p256, .p384] {
      for _ in 0..<300 {
        // Leading zeros make short integers, whose encoding is often wrong.
        let r = [UInt8](repeating: 0, count: Int.random(in: 0..<curve.width, using: &random))
        let s = [UInt8](repeating: 0, count: Int.random(in: 0..<curve.width, using: &random))
        var raw = r + random.bytes(curve.width - r.count) + s + random.bytes(curve.width - s.count)
        raw[0] &= 0x7F
        raw[curve.width] &= 0x7F
        raw[curve.width - 1] |= 1
        raw[2 * curve.width - 1] |= 1
        let signature = try ECDSASignature(raw: raw, curve: curve)
        #expect(signature.raw == raw)
        #expect(try ECDSASignature(der: signature.der, curve: curve) == signature)
      }
    }
  }

  @Test("r and s of zero or not below the order are refused")
  func range() throws {
    let one = [UInt8](repeating: 0, count: 31) + [1]
    let zero = [UInt8](repeating: 0, count: 32)
    var below = Self.order
    below[31] -= 1
    #expect(try ECDSASignature(raw: below + below, curve: .p256).r == below)
    for bad in [zero, Self.order, [UInt8](repeating: 0xFF, count: 32)] {
      #expect(throws: SignatureError.outOfRange) { try ECDSASignature(raw: bad + one, curve: .p256) }
      #expect(throws: SignatureError.outOfRange) { try ECDSASignature(raw: one + bad, curve: .p256) }
    }
    #expect(throws: SignatureError.outOfRange) { try ECDSASignature(der: Self.der([0], [1]), curve: .p256) }
    #expect(throws: SignatureError.outOfRange) { try ECDSASignature(der: Self.der([0] + Self.order, [1]), curve: .p256) }
  }

  @Test("only the minimal DER form is accepted")
  func minimal() throws {
    let good = Self.der([1], [2])
    #expect(try ECDSASignature(der: good, curve: .p256).der == good)
    #expect(Hex.encode(good) == "3006020101020102")
    // Empty, truncated, longer, padded and negative integers, empty integers, long-form and open lengths, other tags, three numbers.
    let texts = [
      "", "30", "300602010102010200", "30060201010201", "300702020001020102", "300702010102020002", "3006020180020102",
      "30050200020102", "308106020101020102", "3106020101020102", "30800201010201020000", "3003020101", "3009020101020102020103",
      "3006040101020102", "3005020101020102", "3007020101020102",
    ]
    let bad = texts.compactMap { Hex.decode($0) }
    #expect(bad.count == texts.count)
    for bytes in bad { #expect(throws: SignatureError.self, "\(bytes)") { try ECDSASignature(der: bytes, curve: .p256) } }
  }

  @Test("raw signatures have exactly twice the curve's width", arguments: [0, 1, 63, 65, 48, 96])
  func rawLength(_ count: Int) {
    #expect(throws: SignatureError.wrongLength(count)) {
      try ECDSASignature(raw: [UInt8](repeating: 1, count: count), curve: .p256)
    }
  }

  @Test("a signature with the other s verifies too, because Apple's signatures may have either")
  func highS() throws {
    let key = try SigningKey.generate()
    let message = Array("message".utf8)
    let signature = try key.sign(message)
    // n - s, big endian.
    var other = [UInt8](repeating: 0, count: 32)
    var borrow = 0
    for index in stride(from: 31, through: 0, by: -1) {
      let difference = Int(Self.order[index]) - Int(signature.s[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      other[index] = UInt8(truncatingIfNeeded: difference)
    }
    let flipped = try ECDSASignature(raw: signature.r + other, curve: .p256)
    #expect(key.publicKey.verifies(signature, of: message))
    #expect(key.publicKey.verifies(flipped, of: message))
  }

  @Test("random bytes never crash the reader, and no damaged signature verifies")
  func damage() throws {
    var random = SeededRandom("signature damage")
    let key = try SigningKey.generate()
    let message = Array("message".utf8)
    let der = try key.sign(message).der
    for _ in 0..<5000 {
      var bytes = Bool.random(using: &random) ? der : random.bytes(Int.random(in: 0...90, using: &random))
      for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[index] ^= UInt8.random(in: 1...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        }
      }
      guard bytes != der, let read = try? ECDSASignature(der: bytes, curve: .p256) else { continue }
      #expect(read.der == bytes, "a second spelling of one signature")
      #expect(!key.publicKey.verifies(read, of: message))
    }
  }
}
