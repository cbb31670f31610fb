import Cryptography
import Foundation
import TestSupport
import Testing

@Suite("Forms of key files")
struct KeyFormTests {
  static let passphrase = "open sesame, però piano"

  struct Form: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var isEncrypted = false
    let make: @Sendable (_ sec1: String) throws -> String
  }

  static let forms: [Form] = [
    Form(testDescription: "SEC1") { $0 },
    Form(testDescription: "SEC1 with parameters") { try KeyTests.openssl("ecparam", "-name", "prime256v1", input: nil) + $0 },
    Form(testDescription: "SEC1 without public half") { try KeyTests.openssl("ec", "-no_public", input: $0) },
    Form(testDescription: "PKCS#8") { try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: $0) },
    // The form of App Store Connect: PKCS#8 without a final line end.
    Form(testDescription: ".p8") {
      String(try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: $0).dropLast())
    },
    Form(testDescription: "PKCS#8 with CRLF and blank lines") {
      try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: $0).split(separator: "\n").joined(separator: "\r\n") + "\r\n \r\n\r\n"
    },
    Form(testDescription: "PKCS#8 after a comment") {
      "Key of 2026, ENCRYPTED elsewhere: no\n" + (try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: $0))
    },
    encrypted("PKCS#8, OpenSSL's own choice", "pkcs8", "-topk8"),
    encrypted("PKCS#8, AES-128", "pkcs8", "-topk8", "-v2", "aes-128-cbc"),
    encrypted("PKCS#8, AES-256", "pkcs8", "-topk8", "-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"),
    encrypted("PKCS#8, triple DES", "pkcs8", "-topk8", "-v2", "des3"),
    encrypted("PKCS#8, scrypt", "pkcs8", "-topk8", "-scrypt", "-scrypt_N", "1024"),
    encrypted("Proc-Type, AES-128", "ec", "-aes128"),
    encrypted("Proc-Type, AES-256", "ec", "-aes256"),
    encrypted("Proc-Type, triple DES", "ec", "-des3"),
  ]

  private static func encrypted(_ name: String, _ command: String, _ first: String, _ more: String...) -> Form {
    Form(testDescription: name, isEncrypted: true) {
      try KeyTests.openssl(command, [first] + more + ["-passout", "pass:" + passphrase], input: $0)
    }
  }

  @Test("each form gives the same key from a text and from a file, and encrypted ones only with their passphrase", arguments: forms)
  func form(_ form: Form) throws {
    let sec1 = try KeyTests.sec1()
    let published = try KeyTests.openssl("ec", "-pubout", input: sec1)
    let text = try form.make(sec1)
    let folder = try TemporaryFolder()
    let path = try folder.write("key.pem", text, mode: 0o400)
    let right = try folder.write("right", Self.passphrase + "\nsecond line\n", mode: 0o400)
    let wrong = try folder.write("wrong", "open barley")
    let files: any PrivateKeyProvider = KeyFileProvider()
    let key = try files.key(path, secretFile: form.isEncrypted ? right : nil)
    #expect(key.publicKey.pem == published)
    #expect(try key.publicKey.verifies(key.sign([1, 2, 3]), of: [1, 2, 3]))
    #expect(try SigningKey(pem: text, passphrase: Self.passphrase).publicKey.pem == published)
    #expect(try SigningKey.load(path: path, passphrase: Self.passphrase).publicKey.pem == published)
    if form.isEncrypted {
      #expect(throws: PrivateKeyError.keyFile(.notAKey(path: path, .passphraseNeeded))) { try files.key(path, secretFile: nil) }
      #expect(throws: PrivateKeyError.keyFile(.notAKey(path: path, .wrongPassphrase))) { try files.key(path, secretFile: wrong) }
      #expect(throws: KeyError.wrongPassphrase) { try SigningKey(pem: text, passphrase: "") }
    }
  }

  @Test("a passphrase file must meet the rules for key files")
  func passphraseFile() throws {
    let folder = try TemporaryFolder()
    let key = try folder.write(
      "key", try KeyTests.openssl("ec", "-aes128", "-passout", "pass:" + Self.passphrase, input: try KeyTests.sec1()))
    let files = KeyFileProvider()
    for end in ["", "\n", "\r\n", "\nmore"] {
      let path = try folder.write("passphrase", Self.passphrase + end)
      #expect(throws: Never.self) { try files.key(key, secretFile: path) }
    }
    func refusal(_ path: String) throws -> KeyFileError {
      let error = try #require(throws: PrivateKeyError.self) { try files.key(key, secretFile: path) }
      guard case .secretFile(let reason) = error else { throw error }
      #expect(error.description.hasPrefix("passphrase or PIN file \(path) "))
      #expect(!error.description.contains("sesame"))
      return reason
    }
    let open = try folder.write("passphrase", Self.passphrase, mode: 0o440)
    #expect(try refusal(open) == .readableByOthers(path: open, mode: 0o440))
    #expect(try refusal(folder.path("none")) == .absent(path: folder.path("none")))
    for text in ["", "\n", "\r\n", "\n" + Self.passphrase, "open\0sesame", "sesame" + String(repeating: "e", count: 1018)] {
      let path = try folder.write("passphrase", text)
      guard case .unreadable(path, _) = try refusal(path) else {
        Issue.record("\(text)")
        continue
      }
    }
  }

  @Test("an unsupported cipher is not reported as a wrong passphrase")
  func unknownCipher() throws {
    let text = try KeyTests.openssl(
      "pkcs8", "-topk8", "-v1", "PBE-MD5-DES", "-provider", "legacy", "-provider", "default", "-passout", "pass:" + Self.passphrase,
      input: try KeyTests.sec1())
    #expect(throws: KeyError.unknownCipher) { try SigningKey(pem: text, passphrase: Self.passphrase) }
  }

  @Test("a text with anything but exactly one private key is refused with the reason")
  func contents() throws {
    let sec1 = try KeyTests.sec1()
    let pkcs8 = try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: sec1)
    let published = try KeyTests.openssl("ec", "-pubout", input: sec1)
    let certificate = try KeyTests.openssl("req", "-x509", "-new", "-key", "-", "-subj", "/CN=test", key: sec1)
    let encrypted = try KeyTests.openssl("pkcs8", "-topk8", "-passout", "pass:" + Self.passphrase, input: sec1)
    let legacy = try KeyTests.openssl("ec", "-aes128", "-passout", "pass:" + Self.passphrase, input: sec1)
    let rsa = try KeyTests.openssl("genpkey", "-algorithm", "RSA")
    let cases: [(String, String, KeyError)] = [
      ("P-192", try KeyTests.sec1("prime192v1"), .wrongKind(found: "prime192v1")),
      ("P-384", try KeyTests.sec1("secp384r1"), .wrongKind(found: "secp384r1")),
      ("secp256k1", try KeyTests.sec1("secp256k1"), .wrongKind(found: "secp256k1")),
      ("RSA", rsa, .wrongKind(found: "RSA")),
      ("RSA, PKCS#1", try KeyTests.openssl("rsa", "-traditional", input: rsa), .wrongKind(found: "RSA")),
      ("Ed25519", try KeyTests.openssl("genpkey", "-algorithm", "ED25519"), .wrongKind(found: "ED25519")),
      ("public key", published, .publicKeyInPlaceOfPrivate),
      ("certificate", certificate, .certificateInPlaceOfKey),
      ("certificates", certificate + certificate, .certificateInPlaceOfKey),
      ("two keys", sec1 + pkcs8, .severalKeys(2)),
      ("three keys", encrypted + encrypted + legacy, .severalKeys(3)),
      ("key and certificate", pkcs8 + certificate, .moreThanTheKey("CERTIFICATE")),
      ("public key and key", published + pkcs8, .moreThanTheKey("PUBLIC KEY")),
      ("parameters", try KeyTests.openssl("ecparam", "-name", "prime256v1"), .notAKey("only the parameters of a curve")),
      ("text after", pkcs8 + "# the end\n", .textAfterTheKey),
      ("text after an encrypted key", encrypted + "x", .textAfterTheKey),
      ("zero bytes after", sec1 + "\0\0", .textAfterTheKey),
      ("bytes after, within", try Self.appending([0], to: pkcs8, "PRIVATE KEY"), .textAfterTheKey),
      ("many bytes after, within", try Self.appending([UInt8](repeating: 7, count: 100), to: sec1, "EC PRIVATE KEY"), .textAfterTheKey),
      ("bytes after, within an encrypted key", try Self.appending([1, 2], to: encrypted, "ENCRYPTED PRIVATE KEY"), .textAfterTheKey),
      ("no end", String(pkcs8.dropLast(20)), .notAKey("its PRIVATE KEY has no end")),
      ("no begin", String(pkcs8.dropFirst(3)), .notAKey("an END without its BEGIN")),
      ("white space", " \r\n\n", .notAKey("empty")),
      ("prose", "this is a key\n", .notAKey("not PEM")),
      ("another's public half", try Self.mixed(), .mismatchedPublicKey),
    ]
    let folder = try TemporaryFolder()
    for (name, text, expected) in cases {
      let path = try folder.write("key.pem", text)
      let error = #expect(throws: KeyFileError.self, "\(name)") {
        try SigningKey.load(path: path, passphrase: Self.passphrase)
      }
      #expect(error == .notAKey(path: path, expected), "\(name)")
      #expect(error?.description.hasPrefix("key file \(path) ") == true)
      #expect(throws: expected, "\(name)") { try SigningKey(pem: text, passphrase: Self.passphrase) }
    }
    let der = Data(base64Encoded: pkcs8.split(separator: "\n").dropFirst().dropLast().joined())!
    let path = try folder.write("key.der", der)
    let error = #expect(throws: KeyFileError.self) { try SigningKey.load(path: path) }
    #expect(error?.description.contains("binary") == true)
  }

  @Test("a truncated or changed text gives the key or an error, never another key", arguments: [1, 2, 3])
  func changed(_ seed: Int) throws {
    let sec1 = try KeyTests.sec1()
    let published = try KeyTests.openssl("ec", "-pubout", input: sec1)
    let pkcs8 = Array(try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: sec1).utf8)
    var random = SeededRandom("changed keys \(seed)")
    var refused = 0
    for _ in 0..<300 {
      var text = pkcs8
      switch Int.random(in: 0..<3, using: &random) {
      case 0: text.removeLast(Int.random(in: 1..<text.count, using: &random))
      case 1: text[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      default: text.insert(UInt8.random(in: 32...126, using: &random), at: Int.random(in: 0...text.count, using: &random))
      }
      do throws(KeyError) {
        #expect(try SigningKey(pem: String(decoding: text, as: UTF8.self)).publicKey.pem == published)
      } catch { refused += 1 }
    }
    #expect(refused > 200)
  }

  /// A PEM text with additional bytes after its DER.
  private static func appending(_ bytes: [UInt8], to pem: String, _ name: String) throws -> String {
    let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    return Self.pem(try #require(Data(base64Encoded: base64)) + Data(bytes), name)
  }

  private static func pem(_ der: Data, _ name: String) -> String {
    "-----BEGIN \(name)-----\n" + der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
      + "\n-----END \(name)-----\n"
  }

  /// A SEC1 key with the public half of another key. The point is at the end of both.
  private static func mixed() throws -> String {
    func der(_ pem: String) throws -> Data {
      try #require(Data(base64Encoded: pem.split(separator: "\n").dropFirst().dropLast().joined()))
    }
    let mine = try der(KeyTests.sec1())
    return pem(mine.dropLast(64) + (try der(KeyTests.sec1())).suffix(64), "EC PRIVATE KEY")
  }
}
