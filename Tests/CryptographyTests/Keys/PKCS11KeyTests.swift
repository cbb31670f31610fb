import Cryptography
import Foundation
import Testing

@Suite("Keys in a token")
struct PKCS11KeyTests {
  static let signing = "pkcs11:token=keys%20of%202026;object=signing"

  private let tokens: SoftTokens
  private let provider = PKCS11KeyProvider(module: SoftTokens.module)

  init() throws { tokens = try SoftTokens.shared() }

  private func refusal(
    _ uri: String, pin: String?, module: String = SoftTokens.module, _ location: SourceLocation = #_sourceLocation
  ) throws -> TokenKeyError {
    let error = try #require(throws: PrivateKeyError.self, sourceLocation: location) {
      try PKCS11KeyProvider(module: module).key(uri, secretFile: pin)
    }
    for secret in [SoftTokens.pin, SoftTokens.otherPIN, "11111111"] {
      #expect(!"\(error) \(String(reflecting: error))".contains(secret), sourceLocation: location)
    }
    guard case .token(let reason) = error else { throw error }
    return reason
  }

  @Test("a key in a token signs like the same key from a file and has the same public key")
  func sameAsFile() throws {
    let path = try tokens.folder.write("same.pem", try #require(tokens.imported["signing"]))
    let sources: [(any PrivateKeyProvider, String, String?)] = [
      (KeyFileProvider(), path, nil), (provider, Self.signing, tokens.pinFile),
    ]
    let keys = try sources.map { try $0.key($1, secretFile: $2) }
    #expect(keys[0].publicKey.pem == keys[1].publicKey.pem)
    let published = try KeyTests.openssl("ec", "-pubout", input: tokens.imported["signing"])
    #expect(keys[1].publicKey.pem == published)
    #expect(keys[1].publicKey.curve == .p256)
    let message = Array("what is signed".utf8)
    for key in keys {
      let signature = try key.sign(message)
      #expect(try PublicKey(pem: published).verifies(signature, of: message))
      #expect(!keys[0].publicKey.verifies(signature, of: message + [0]))
      #expect(try ECDSASignature(raw: signature.raw, curve: .p256) == signature)
    }
    let files = ["key", "signature", "message"].map { tokens.folder.path("verified-" + $0) }
    try Data(published.utf8).write(to: URL(fileURLWithPath: files[0]))
    try Data(keys[1].sign(message).der).write(to: URL(fileURLWithPath: files[1]))
    try Data(message).write(to: URL(fileURLWithPath: files[2]))
    #expect(
      try KeyTests.openssl("dgst", "-sha256", "-verify", files[0], "-signature", files[1], files[2]) == "Verified OK\n")
  }

  @Test(
    "a key is found by each way to name it",
    arguments: [
      signing, "pkcs11:token=keys%20of%202026;id=%01", "pkcs11:object=signing;id=%01;token=keys%20of%202026;type=private",
      "pkcs11:token=%6b%65ys%20of%202026;object=signin%67;manufacturer=SoftHSM%20project;model=SoftHSM%20v2",
    ])
  func names(_ uri: String) throws {
    let key = try provider.key(uri, secretFile: tokens.pinFile)
    #expect(key.publicKey.pem == (try KeyTests.openssl("ec", "-pubout", input: tokens.imported["signing"])))
  }

  @Test("8 tasks with 200 signatures each use one token key concurrently with another key")
  func concurrency() async throws {
    let key = try provider.key(Self.signing, secretFile: tokens.pinFile)
    let second = try provider.key("pkcs11:token=keys%20of%202026;object=second%20key", secretFile: tokens.pinFile)
    #expect(key.publicKey.pem != second.publicKey.pem)
    let halves = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for task in 0..<8 {
        group.addTask {
          try (0..<200).map { index in
            let (mine, other) = task == 7 ? (second, key) : (key, second)
            let message = Array("\(task) signs \(index)".utf8)
            let signature = try mine.sign(message)
            #expect(mine.publicKey.verifies(signature, of: message))
            #expect(!other.publicKey.verifies(signature, of: message))
            return signature.r
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(halves.count == 1600)
    #expect(Set(halves).count == 1600, "a nonce was used twice")
  }

  @Test("keys are loaded, used and released by many tasks at once")
  func loading() async throws {
    try await withThrowingTaskGroup { group in
      for index in 0..<32 {
        group.addTask {
          let isFirst = index % 2 == 0
          let uri = isFirst ? Self.signing : "pkcs11:token=other;object=signing"
          let key = try provider.key(uri, secretFile: isFirst ? tokens.pinFile : tokens.otherPINFile)
          for _ in 0..<10 { #expect(try key.publicKey.verifies(key.sign([9]), of: [9])) }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("a key stays in its token")
  func stays() throws {
    let key = try provider.key(Self.signing, secretFile: tokens.pinFile)
    let path = tokens.folder.path("stays.pem")
    #expect(throws: KeyFileError.notWritten(path: path, reason: "the key is in a PKCS#11 token and cannot be exported")) {
      try key.writePEM(to: path)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(key.pem == "")
  }

  @Test("a missing module, or a file that is no library or no PKCS#11 library, is refused with its path")
  func modules() throws {
    let none = tokens.folder.path("none.so")
    let missing = try refusal(Self.signing, pin: tokens.pinFile, module: none)
    #expect(missing == .moduleMissing(path: none))
    #expect(missing.description.contains(none))
    let text = try tokens.folder.write("text.so", "no library")
    for path in [text, "/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6"] {
      guard path == text || FileManager.default.fileExists(atPath: path) else { continue }
      guard case .moduleUnusable(path, let reason) = try refusal(Self.signing, pin: tokens.pinFile, module: path) else {
        Issue.record("\(path)")
        continue
      }
      #expect(!reason.isEmpty)
    }
    // A valid module works afterwards.
    #expect(throws: Never.self) { try provider.key(Self.signing, secretFile: tokens.pinFile) }
  }

  @Test("a missing or ambiguous token is refused")
  func missingTokens() throws {
    for uri in ["pkcs11:token=nobody;object=signing", "pkcs11:serial=0;object=signing", Self.signing + ";manufacturer=nobody"] {
      let error = try refusal(uri, pin: tokens.pinFile)
      #expect(error == .tokenMissing(uri: uri, present: present(error)))
      #expect(Set(present(error)) == ["keys of 2026", "other", "double", "wary"])
      #expect(error.description.contains("\"keys of 2026\""))
    }
    let double = "pkcs11:token=double;object=signing"
    #expect(try refusal(double, pin: tokens.pinFile) == .severalTokens(uri: double))
  }

  private func present(_ error: TokenKeyError) -> [String] {
    if case .tokenMissing(_, let present) = error { present } else { [] }
  }

  @Test("a key is refused if it is missing, of another kind, ambiguous, or has another key's public half")
  func keys() throws {
    let token = "pkcs11:token=keys%20of%202026;"
    for name in ["object=nothing", "id=%ff%fe", "object=signing;id=%02"] {
      #expect(try refusal(token + name, pin: tokens.pinFile) == .noSuchKey(uri: token + name))
    }
    for (name, found) in [("p384", "secp384r1"), ("rsa", "rsaEncryption")] {
      let uri = token + "object=" + name
      #expect(try refusal(uri, pin: tokens.pinFile) == .unusableKey(uri: uri, .wrongKind(found: found)))
    }
    let widowed = token + "object=widowed"
    #expect(try refusal(widowed, pin: tokens.pinFile) == .noPublicKey(uri: widowed))
    let twin = token + "object=twin"
    #expect(try refusal(twin, pin: tokens.pinFile) == .severalKeys(uri: twin, count: 2))
    #expect(throws: Never.self) { try provider.key(twin + ";id=%a1", secretFile: tokens.pinFile) }
    // Two pairs have one id: for one of them the engine finds the public half of the other.
    var refused = 0
    for name in ["one", "other%20one"] {
      let uri = token + "object=" + name
      do {
        let key = try provider.key(uri, secretFile: tokens.pinFile)
        #expect(try key.publicKey.verifies(key.sign([1]), of: [1]))
      } catch {
        #expect(error as? PrivateKeyError == .token(.unusableKey(uri: uri, .mismatchedPublicKey)))
        refused += 1
      }
    }
    #expect(refused == 1)
  }

  // A separate token, because a token that another test has logged in to requires no PIN any more.
  @Test("a wrong PIN is reported as such, and the right one is accepted afterwards")
  func wrongPIN() throws {
    let uri = "pkcs11:token=wary;object=wary"
    #expect(try refusal(uri, pin: nil) == .pinNeeded(uri: uri))
    for pin in [tokens.wrongPINFile, tokens.otherPINFile, try tokens.folder.write("short-pin", "1")] {
      #expect(try refusal(uri, pin: pin) == .wrongPIN(uri: uri))
    }
    let key = try provider.key(uri, secretFile: tokens.pinFile)
    #expect(try key.publicKey.verifies(key.sign([2]), of: [2]))
    #expect(try refusal(uri + "2", pin: tokens.pinFile) == .noSuchKey(uri: uri + "2"))
  }

  @Test("a PIN file must meet the rules for key files, and a token that requires a PIN reports that")
  func pinFiles() throws {
    let open = try tokens.folder.write("open-pin", SoftTokens.pin, mode: 0o440)
    #expect(throws: PrivateKeyError.secretFile(.readableByOthers(path: open, mode: 0o440))) {
      try provider.key(Self.signing, secretFile: open)
    }
    let none = tokens.folder.path("no-pin")
    #expect(throws: PrivateKeyError.secretFile(.absent(path: none))) { try provider.key(Self.signing, secretFile: none) }
    #expect(try refusal(Self.signing, pin: nil) == .pinNeeded(uri: Self.signing))
  }
}

@Suite("PKCS#11 URIs")
struct PKCS11URITests {
  @Test(
    "a URI without token and key, or with further attributes, is refused",
    arguments: [
      ("", .notAPKCS11URI), ("/keys/key.pem", .notAPKCS11URI), ("pkcs12:token=a;object=b", .notAPKCS11URI),
      ("pkcs11:", .unknownAttribute("")), ("pkcs11:object=b", .noToken), ("pkcs11:token=a", .noObject),
      ("pkcs11:token=a;object=b;", .unknownAttribute("")), ("pkcs11:token=a;object=b?pin-value=1234", .query),
      ("pkcs11:token=a;object=b;pin-value=1234", .query), ("pkcs11:token=a;object=b?module-path=/x.so", .query),
      ("pkcs11:token=a;object=b;slot-id=1", .unknownAttribute("slot-id")), ("pkcs11:token=a;Object=b", .unknownAttribute("Object")),
      ("pkcs11:token=a;object=b;object=c", .malformed("object")), ("pkcs11:token=;object=b", .malformed("token")),
      ("pkcs11:token;object=b", .malformed("token")), ("pkcs11:token=a b;object=c", .malformed("token")),
      ("pkcs11:token=a;object=%2", .malformed("object")), ("pkcs11:token=a;object=%zz", .malformed("object")),
      ("pkcs11:token=a;object=b%00c", .malformed("object")), ("pkcs11:token=a;object=%ff", .malformed("object")),
      ("pkcs11:token=a;object=schlüssel", .malformed("object")), ("pkcs11:token=a;object=b;type=public", .notAPrivateKey("public")),
    ] as [(String, PKCS11URIError)])
  func refused(_ text: String, _ expected: PKCS11URIError) {
    #expect(throws: expected) { try PKCS11URI(validating: text) }
    #expect(!"\(expected)".contains("1234"))
  }

  @Test("a URI with token and key is accepted")
  func taken() throws {
    for text in ["pkcs11:token=a;object=b", "PKCS11:serial=1;id=%00%ff", "pkcs11:token=a=b;object=c%3bd&e"] {
      #expect(try PKCS11URI(validating: text).description == text)
    }
  }
}
