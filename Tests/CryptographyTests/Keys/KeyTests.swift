import Cryptography
import Foundation
import TestSupport
import Testing

@Suite("Keys")
struct KeyTests {
  /// Runs the OpenSSL command, which creates keys like those of ad networks. It uses files, because tests run concurrently.
  static func openssl(_ command: String, _ arguments: String..., input: String? = nil, key: String? = nil, standardOutput: Bool = false)
    throws -> String
  {
    try openssl(command, arguments, input: input, key: key, standardOutput: standardOutput)
  }

  /// The key's file replaces the argument `-`. `standardOutput` is for commands without `-out`.
  static func openssl(
    _ command: String, _ arguments: [String], input: String? = nil, key: String? = nil, standardOutput: Bool = false
  ) throws -> String {
    var arguments = arguments
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = folder.appendingPathComponent("out")
    var files = standardOutput ? [] : ["-out", output.path]
    if let input {
      let file = folder.appendingPathComponent("in")
      try Data(input.utf8).write(to: file)
      files += ["-in", file.path]
    }
    if let key {
      let file = folder.appendingPathComponent("key")
      try Data(key.utf8).write(to: file)
      arguments = arguments.map { $0 == "-" ? file.path : $0 }
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl", command] + files + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    if standardOutput {
      try Data().write(to: output)
      process.standardOutput = try FileHandle(forWritingTo: output)
    }
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(command)")
    return try String(contentsOf: output, encoding: .utf8)
  }

  static func sec1(_ curve: String = "prime256v1", parameters: Bool = false) throws -> String {
    parameters
      ? try openssl("ecparam", "-name", curve, "-genkey") : try openssl("ecparam", "-name", curve, "-genkey", "-noout")
  }

  @Test("SEC1 with and without parameters and PKCS#8 are read, and give the same public key as OpenSSL")
  func privateForms() throws {
    for parameters in [false, true] {
      let sec1 = try Self.sec1(parameters: parameters)
      #expect(sec1.contains("BEGIN EC PARAMETERS") == parameters)
      let pkcs8 = try Self.openssl("pkcs8", "-topk8", "-nocrypt", input: sec1)
      let published = try Self.openssl("ec", "-pubout", input: sec1)
      for pem in [sec1, pkcs8] {
        let key = try SigningKey(pem: pem)
        #expect(key.publicKey.pem == published)
        #expect(try PublicKey(pem: published).subjectPublicKeyInfo == key.publicKey.subjectPublicKeyInfo)
        #expect(try SigningKey(pem: key.pem).publicKey.pem == published)
      }
    }
  }

  @Test("an encrypted key needs its passphrase")
  func passphrase() throws {
    let plain = try Self.sec1()
    for encrypted in [
      try Self.openssl("pkcs8", "-topk8", "-passout", "pass:open sesame", input: plain),
      try Self.openssl("ec", "-aes128", "-passout", "pass:open sesame", input: plain),
    ] {
      #expect(throws: KeyError.passphraseNeeded) { try SigningKey(pem: encrypted) }
      #expect(throws: KeyError.wrongPassphrase) { try SigningKey(pem: encrypted, passphrase: "guess") }
      #expect(try SigningKey(pem: encrypted, passphrase: "open sesame").publicKey.pem == SigningKey(pem: plain).publicKey.pem)
    }
  }

  @Test("anything but a P-256 private key is refused with the reason")
  func refusals() throws {
    let p192 = try Self.sec1("prime192v1")
    #expect(throws: KeyError.wrongKind(found: "prime192v1")) { try SigningKey(pem: p192) }
    #expect("\(KeyError.wrongKind(found: "prime192v1"))".contains("register"))
    let p384 = try Self.sec1("secp384r1")
    #expect(throws: KeyError.wrongKind(found: "secp384r1")) { try SigningKey(pem: p384) }
    let k256 = try Self.sec1("secp256k1")
    #expect(throws: KeyError.self) { try SigningKey(pem: k256) }
    let rsa = try Self.openssl("genpkey", "-algorithm", "RSA")
    #expect(throws: KeyError.self) { try SigningKey(pem: rsa) }
    let published = try Self.openssl("ec", "-pubout", input: try Self.sec1())
    #expect(throws: KeyError.publicKeyInPlaceOfPrivate) { try SigningKey(pem: published) }
    for text in ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
      #expect(throws: KeyError.self) { try SigningKey(pem: text) }
    }
  }

  @Test("a text of any length is read completely and repeatedly")
  func lengths() throws {
    let p192 = try Self.sec1("prime192v1")
    let p256 = try Self.sec1()
    let published = try Self.openssl("ec", "-pubout", input: p256)
    var random = SeededRandom("key texts")
    for _ in 0..<300 {
      // Comments around PEM are allowed. They only move the text to another position in memory.
      let note = String(repeating: "note ", count: Int.random(in: 0...60, using: &random)) + "\n"
      #expect(throws: KeyError.wrongKind(found: "prime192v1")) { try SigningKey(pem: note + p192) }
      #expect(try SigningKey(pem: note + p256).publicKey.pem == published)
      #expect(try PublicKey(pem: note + published).pem == published)
    }
  }

  @Test("a public key is exactly one SubjectPublicKeyInfo of a known curve")
  func publicForms() throws {
    let der = try SigningKey.generate().publicKey.subjectPublicKeyInfo
    #expect(try PublicKey(subjectPublicKeyInfo: der).curve == .p256)
    #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: der + [0]) }
    #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: Array(der.dropLast())) }
    #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: []) }
    // A point that is not on the curve.
    var off = der
    off[off.count - 1] ^= 1
    #expect(throws: KeyError.self) { try PublicKey(subjectPublicKeyInfo: off) }
    for (name, curve) in [("prime192v1", Curve.p192), ("secp384r1", .p384)] {
      #expect(try PublicKey(pem: try Self.openssl("ec", "-pubout", input: try Self.sec1(name))).curve == curve)
    }
  }

  @Test("several threads may sign with one key concurrently, and OpenSSL verifies the signatures")
  func concurrency() async throws {
    let key = try SigningKey.generate()
    let signatures = try await withThrowingTaskGroup(of: (Int, ECDSASignature).self) { group in
      for index in 0..<200 { group.addTask { (index, try key.sign(Array("message \(index)".utf8))) } }
      var all: [(Int, ECDSASignature)] = []
      for try await one in group { all.append(one) }
      return all
    }
    for (index, signature) in signatures {
      #expect(key.publicKey.verifies(signature, of: Array("message \(index)".utf8)))
      #expect(!key.publicKey.verifies(signature, of: Array("message \(index + 1)".utf8)))
    }
    #expect(Set(signatures.map(\.1.r)).count == signatures.count, "a nonce was used twice")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["key", "signature", "message"].map { folder.appendingPathComponent($0) }
    try Data(key.publicKey.pem.utf8).write(to: files[0])
    try Data(signatures[0].1.der).write(to: files[1])
    try Data("message \(signatures[0].0)".utf8).write(to: files[2])
    let said = try Self.openssl("dgst", "-sha256", "-verify", files[0].path, "-signature", files[1].path, files[2].path)
    #expect(said == "Verified OK\n")
  }
}
