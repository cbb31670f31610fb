import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import Cryptography

@Suite("Base64 and hexadecimal")
struct EncodingTests {
  @Test("random bytes can be encoded and decoded, and the results agree with Foundation's")
  func roundTrip() {
    var random = SeededRandom("base64")
    for count in 0..<200 {
      let bytes = random.bytes(count)
      let text = Base64.encode(bytes)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.decodeURL(Base64.encodeURL(bytes)) == bytes)
      #expect(Hex.decode(Hex.encode(bytes)) == bytes)
    }
  }

  @Test(
    "each value has only one spelling in standard Base64",
    arguments: [
      "=", "====", "A", "AA", "AAA", "AA=", "AA==A", "AB==", "AAB=", "AA ==", "AA\n==", "-_==", "A===", "AAAA====", "AA=A", "é===",
    ])
  func strictStandard(_ text: String) { #expect(Base64.decode(text) == nil) }

  @Test("each value has only one spelling in URL Base64", arguments: ["A", "AA==", "AB", "AAB", "+/", "AA ", "A=", "AAAAA"])
  func strictURL(_ text: String) { #expect(Base64.decodeURL(text) == nil) }

  @Test("an odd number of digits or another character is no hexadecimal", arguments: ["0", "0g", "0x00", " 00"])
  func strictHex(_ text: String) { #expect(Hex.decode(text) == nil) }
}

@Suite("Digests")
struct DigestTests {
  @Test("SHA-256 and HMAC give the published values")
  func published() {
    #expect(
      Hex.encode(SHA256Digest.hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      Hex.encode(HMACSHA256(key: Array("Jefe".utf8)).authenticate("what do ya want for nothing?".utf8))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    // RFC 4231 section 4.7: a key longer than a block.
    #expect(
      Hex.encode(
        HMACSHA256(key: Array(repeating: 0xAA, count: 131)).authenticate("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    #expect(Hex.encode(0x0123_4567_89AB_CDEF as UInt64) == "0123456789abcdef")
    #expect(Hex.encode(HMACSHA256(key: []).authenticate([])) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("SHA-256 after a prefix equals SHA-256 of the whole message, for all lengths around the block size")
  func prefix() {
    var random = SeededRandom("prefix")
    for count in [0, 1, 55, 63, 64, 65, 127, 128, 129, 4000] {
      let begin = random.bytes(count)
      let prefix = SHA256Prefix((random.bytes(3) + begin + random.bytes(3))[3..<3 + count])
      for rest in [0, 1, 8, 55, 56, 63, 64, 65, 1000] {
        let message = begin + random.bytes(rest)
        #expect(prefix.hash(message) == SHA256Digest.hash(message), "\(count) and \(rest) bytes")
      }
    }
  }

  @Test("HMAC equals OpenSSL's own for keys and messages around the block size")
  func hmac() {
    var random = SeededRandom("hmac")
    for keySize in [0, 1, 31, 32, 63, 64, 65, 200] {
      let key = random.bytes(keySize)
      let ours = HMACSHA256(key: key)
      for size in [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000] {
        let message = random.bytes(size)
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
        #expect(ours.authenticate(message) == code, "a key of \(keySize) bytes, a message of \(size)")
        #expect(ours.authenticate(message.lazy.map { $0 }) == code)
      }
    }
  }

  @Test("comparison in constant time distinguishes equal and different bytes")
  func constantTime() {
    #expect(ConstantTime.equal([1, 2, 3], [1, 2, 3]))
    #expect(ConstantTime.equal([], []))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2, 4]))
    #expect(!ConstantTime.equal([1, 2, 3], [1, 2]))
  }

  @Test("a random UUID is of version 4, lower case, and no two are the same")
  func uuid() {
    let made = (0..<1000).map { _ in RandomBytes.uuid() }
    #expect(Set(made).count == made.count)
    for text in made {
      #expect(UUID(uuidString: text)?.uuidString.lowercased() == text)
      #expect(Array(text.utf8)[14] == UInt8(ascii: "4"))
      #expect("89ab".utf8.contains(Array(text.utf8)[19]))
    }
  }
}
