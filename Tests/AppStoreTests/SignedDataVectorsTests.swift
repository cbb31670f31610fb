import Cryptography
import Foundation
import TestSupport
import Testing
import WireJSON

@testable import AppStore

/// The cases of Tests/Vectors/appstore/cases.json.
enum AppStoreVectors {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Vectors/appstore")

  static func bytes(_ path: String) -> [UInt8] {
    Array((try? Data(contentsOf: folder.appendingPathComponent(path))) ?? Data())
  }
  static func text(_ path: String) -> String {
    String(decoding: bytes(path), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
  static func json(_ path: String) -> JSONValue { (try? JSONValue(parsing: bytes(path))) ?? .null }

  struct Case: Sendable, CustomTestStringConvertible {
    let id: String
    let object: JSONValue
    var testDescription: String { id }
    var kind: String { object["kind"]?.stringValue ?? "" }
    var inputs: JSONValue { object["inputs"] ?? .null }
    var expect: JSONValue { object["expect"] ?? .null }
    var file: String { object["file"]?.stringValue ?? "" }
  }

  static let all: [Case] = (json("cases.json")["cases"]?.arrayValue ?? []).map {
    Case(id: $0["id"]?.stringValue ?? "", object: $0)
  }
  static let signed = all.filter { SignedDataKind(rawValue: $0.kind) != nil }
  static let chains = all.filter { $0.kind == "chain" }
  static let receipts = all.filter { $0.kind == "appReceipt" || $0.kind == "transactionReceipt" }
  static let models = all.filter { $0.kind == "model" }

  static func chainVerifier(_ inputs: JSONValue) throws -> CertificateChainVerifier {
    let roots = try (inputs["roots"]?.arrayValue ?? []).map { try Certificate(der: bytes($0.stringValue ?? "")) }
    return CertificateChainVerifier(roots: roots, strict: inputs["strictX509"]?.boolValue ?? true)
  }

  /// The names that Apple's libraries use for our reasons.
  static let reasons: [String: Set<SignedDataReason>] = [
    "INVALID_JWT_FORMAT": [.malformedJWS], "INVALID_ALGORITHM": [.unexpectedAlgorithm],
    "INVALID_CHAIN_LENGTH": [.chainLength],
    "INVALID_CERTIFICATE": [.malformedCertificate], "INVALID_CHAIN": [.chainInvalid],
    // Apple's libraries do not distinguish malformed signatures from wrong ones.
    "INVALID_SIGNATURE": [.badSignature, .malformedSignature], "INVALID_APP_IDENTIFIER": [.wrongApp],
    "INVALID_ENVIRONMENT": [.wrongEnvironment],
  ]
}

@Suite("App Store vectors")
struct SignedDataVectorsTests {
  @Test("every kind of case has its test")
  func complete() {
    let covered = AppStoreVectors.signed + AppStoreVectors.chains + AppStoreVectors.receipts + AppStoreVectors.models
    #expect(Set(covered.map(\.id)) == Set(AppStoreVectors.all.map(\.id)))
    #expect(!covered.isEmpty)
  }

  @Test(
    "a date is not checked before the certificates that authenticate it",
    arguments: [JSONValue.integer(9_000_000_000_000), "soon"])
  func certificatesBeforeDates(date: JSONValue) throws {
    func reason(_ x5c: [JSONValue]) -> SignedDataReason? {
      let parts: [JSONValue] = [["alg": "ES256", "x5c": .array(x5c)], ["signedDate": date]]
      let token = (parts.map { Base64.encodeURL($0.serialized) } + [Base64.encodeURL([UInt8](repeating: 1, count: 64))]).joined(
        separator: ".")
      return SignedDataVerifier(chains: CertificateChainVerifier(roots: [AppleRootCertificates.g3]), apps: [])
        .verdict(on: token, kind: .transaction, now: 1_790_000_000_000).reason
    }
    let root = JSONValue.string(Base64.encode(AppleRootCertificates.g3.der))
    #expect(reason([root, root]) == .chainLength)
    #expect(reason([root, "AAAA", root]) == .malformedCertificate)
    #expect(reason([root, root, root]) == .chainInvalid)
  }

  @Test("signed data gets the verdict of its vector", arguments: AppStoreVectors.signed)
  func signedData(vector: AppStoreVectors.Case) throws {
    let environment = try #require(vector.inputs["environment"]?.stringValue)
    let verifier = SignedDataVerifier(
      chains: try AppStoreVectors.chainVerifier(vector.inputs), apps: [],
      acceptsXcodeData: environment == "Xcode" || environment == "LocalTesting")
    let verdict = verifier.verdict(
      on: AppStoreVectors.text(vector.file), kind: try #require(SignedDataKind(rawValue: vector.kind)),
      expecting: SignedDataExpectation(
        bundleId: vector.inputs["bundleId"]?.stringValue, appAppleId: vector.inputs["appAppleId"]?.int64Value,
        environment: environment),
      now: 1_790_000_000_000)
    switch vector.expect["result"]?.stringValue {
    case "valid":
      #expect(verdict.valid, "\(vector.id): \(verdict)")
      for member in vector.expect["claims"]?.objectValue?.members ?? [] {
        #expect(verdict.payload?[member.key] == member.value, "\(vector.id)")
      }
    case "error":
      let name = try #require(vector.expect["error"]?.stringValue)
      #expect(!verdict.valid)
      #expect(AppStoreVectors.reasons[name]?.contains(try #require(verdict.reason)) == true, "\(vector.id): \(verdict)")
    default: #expect(vector.expect["result"] == "any", "\(vector.id): \(verdict)")
    }
  }

  @Test(
    "a cached header gives the same verdict, and a signature or payload of another token is still rejected",
    arguments: AppStoreVectors.signed)
  func knownHeader(vector: AppStoreVectors.Case) throws {
    let environment = try #require(vector.inputs["environment"]?.stringValue)
    let kind = try #require(SignedDataKind(rawValue: vector.kind))
    let chains = try AppStoreVectors.chainVerifier(vector.inputs)
    let verifier = SignedDataVerifier(
      chains: chains, apps: [], acceptsXcodeData: environment == "Xcode" || environment == "LocalTesting")
    let expected = SignedDataExpectation(
      bundleId: vector.inputs["bundleId"]?.stringValue, appAppleId: vector.inputs["appAppleId"]?.int64Value, environment: environment)
    func verdict(_ text: String) -> SignedDataVerdict {
      verifier.verdict(on: text, kind: kind, expecting: expected, now: 1_790_000_000_000)
    }
    let text = AppStoreVectors.text(vector.file)
    let first = verdict(text)
    #expect(verdict(text) == first)
    guard first.valid, let jws = try? EncodedJWS(text, limit: 1 << 20), let payload = try? JSONValue(parsing: jws.payload) else { return }
    // Data of Xcode is not verified, and the chains of some vectors have expired at this time.
    guard environment == "Sandbox" || environment == "Production", chains.cachedPaths > 0 else { return }
    let known = try #require(chains.known(jws.header, at: 1_790_000_000))
    #expect(chains.known(jws.header, at: known.chain.notAfter + 1) == nil)
    #expect(chains.known(jws.header, at: known.chain.notBefore - 1) == nil)
    #expect(known.digest(of: jws) == SHA256Digest.hash(jws.signingInput))
    // Other headers: a longer one, and one of the same length whose last character differs.
    let header = try #require(text.split(separator: ".").first)
    let rest = text.dropFirst(header.count)
    for other in ["A\(header)", "\(header.dropLast())\(header.last == "A" ? "B" : "A")"] {
      let another = try EncodedJWS("\(other)\(rest)", limit: 1 << 20)
      #expect(known.digest(of: another) == nil && chains.known(another.header, at: 1_790_000_000) == nil)
    }
    let parts = text.split(separator: ".").map(String.init)
    let other = try #require(payload.objectValue).members.reversed()
    let altered = Base64.encodeURL(JSONValue.object(JSONObject(Array(other))).serialized)
    if altered != parts[1] { #expect(verdict("\(parts[0]).\(altered).\(parts[2])").reason == .badSignature) }
    let bytes = [UInt8](repeating: 7, count: 64)
    #expect(verdict("\(parts[0]).\(parts[1]).\(Base64.encodeURL(bytes))").reason == .badSignature)
    #expect(verdict("\(parts[0]).\(parts[1]).").reason == .malformedSignature)
    #expect(verdict("\(parts[0]).\(parts[1])").reason == .malformedJWS)
  }

  @Test("a header with an invalid signature is not cached")
  func forgedHeader() throws {
    let vector = try #require(AppStoreVectors.signed.first { $0.expect["result"] == "valid" && $0.inputs["environment"] == "Sandbox" })
    let chains = try AppStoreVectors.chainVerifier(vector.inputs)
    let parts = AppStoreVectors.text(vector.file).split(separator: ".").map(String.init)
    let forged = "\(parts[0]).\(parts[1]).\(Base64.encodeURL([UInt8](repeating: 7, count: 64)))"
    let verifier = SignedDataVerifier(chains: chains, apps: [])
    let kind = try #require(SignedDataKind(rawValue: vector.kind))
    _ = verifier.verdict(on: forged, kind: kind, now: 1_790_000_000_000)
    let header = try EncodedJWS(forged, limit: 1 << 20).header
    #expect(chains.cachedPaths == 1)
    #expect(chains.known(header, at: 1_790_000_000) == nil)
  }

  @Test("a chain gets the verdict of its vector", arguments: AppStoreVectors.chains)
  func chain(vector: AppStoreVectors.Case) throws {
    let verifier = try AppStoreVectors.chainVerifier(vector.inputs)
    let x5c = try #require(AppStoreVectors.json(vector.file)["x5c"]?.arrayValue).compactMap(\.stringValue)
    let time = try #require(vector.inputs["effectiveTime"]?.int64Value)
    if vector.expect["result"] == "valid" {
      let key = try verifier.verify(x5c: x5c, at: time)
      if let spki = vector.expect["spki"]?.stringValue { #expect(Base64.encode(key.subjectPublicKeyInfo) == spki) }
      #expect(try verifier.verify(x5c: x5c, at: time) === key, "the second time comes from the cache")
      #expect(verifier.cachedPaths == 1)
      #expect(throws: ChainError.self) { try verifier.verify(x5c: x5c, at: time + 400 * 86_400 * 365) }
    } else {
      #expect(throws: ChainError.self) { try verifier.verify(x5c: x5c, at: time) }
      #expect(verifier.cachedPaths == 0)
    }
  }

  @Test("a receipt gives its transaction id", arguments: AppStoreVectors.receipts)
  func receipt(vector: AppStoreVectors.Case) throws {
    let text = AppStoreVectors.text(vector.file)
    let extractor = TransactionIdExtractor()
    let found = try vector.kind == "appReceipt" ? extractor.appReceipt(text) : extractor.transactionReceipt(text)
    #expect(found.contains { $0.id == vector.expect["transactionId"]?.stringValue }, "\(found)")
  }

  @Test("ids are found in a verifyReceipt response, as texts or numbers, for an app receipt or a transaction receipt")
  func verifyReceiptForms() throws {
    func ids(_ text: String) throws -> [String] {
      let response = try #require(try JSONValue(parsing: text).objectValue)
      return TransactionIdExtractor().verifyReceiptResponse(response).map { "\($0.location) \($0.kind.rawValue) \($0.id)" }
    }
    #expect(
      try ids(#"{"status":0,"receipt":{"bid":"a","original_transaction_id":"1","transaction_id":2}}"#)
        == ["receipt.original_transaction_id originalTransactionId 1", "receipt.transaction_id transactionId 2"])
    #expect(
      try ids(#"{"latest_receipt_info":{"original_transaction_id":"3"}}"#)
        == ["latest_receipt_info.original_transaction_id originalTransactionId 3"])
    #expect(
      try ids(
        #"{"receipt":{"in_app":[{"original_transaction_id":1000000000000004}]},"pending_renewal_info":[{"original_transaction_id":"5"}]}"#)
        == [
          "receipt.in_app[0].original_transaction_id originalTransactionId 1000000000000004",
          "pending_renewal_info[0].original_transaction_id originalTransactionId 5",
        ])
    #expect(
      try ids(#"{"status":21003,"receipt":[],"latest_receipt_info":[1,"2",{"original_transaction_id":-6,"transaction_id":1.5}]}"#) == [])
  }

  @Test("a model is read and written with every field and digit", arguments: AppStoreVectors.models)
  func model(vector: AppStoreVectors.Case) throws {
    let value = try JSONValue(parsing: AppStoreVectors.bytes(vector.file))
    #expect(try JSONValue(parsing: value.serialized) == value)
    let reference = try #require(
      JSONSerialization.jsonObject(with: Data(AppStoreVectors.bytes(vector.file)), options: .fragmentsAllowed)
        as? NSDictionary)
    let written = try #require(JSONSerialization.jsonObject(with: Data(value.serialized)) as? NSDictionary)
    #expect(reference == written)
  }

  @Test("the built-in root is the one that Apple publishes")
  func root() { #expect(AppleRootCertificates.g3.der == AppStoreVectors.bytes("certs/apple-root-ca-g3.der")) }

  @Test("Apple's roots are known by their digests; the expired one and other roots are not among them")
  func roots() throws {
    #expect(
      AppleRootCertificates.otherDigests == [
        "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
      ])
    #expect(AppleRootCertificates.contain(AppleRootCertificates.g3))
    #expect(!AppleRootCertificates.contain(try Certificate(der: AppStoreVectors.bytes("certs/root-shared.der"))))
  }

  @Test("a damaged token is never accepted and causes no crash")
  func damage() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededRandom(seed: seed)
    let chains = CertificateChainVerifier(roots: [try Certificate(der: AppStoreVectors.bytes("certs/root-shared.der"))])
    let verifier = SignedDataVerifier(chains: chains, apps: [])
    let expectation = SignedDataExpectation(environment: "Production")
    for file in ["jws/transaction-valid.jws", "jws/notification-renew-valid.jws"] {
      let kind: SignedDataKind = file.contains("notification") ? .notification : .transaction
      let original = Array(AppStoreVectors.text(file).utf8)
      for _ in 0..<300 {
        var bytes = original
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[index] = UInt8.random(in: 33...126, using: &generator)
        guard bytes != original else { continue }
        let verdict = verifier.verdict(
          on: String(decoding: bytes, as: UTF8.self), kind: kind, expecting: expectation, now: 1_790_000_000_000)
        #expect(!verdict.valid, "seed \(seed), byte \(index) of \(file)")
      }
    }
  }

  @Test("damaged receipts are refused or read without a crash")
  func damagedReceipts() {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededRandom(seed: seed)
    let original = Base64.decode(AppStoreVectors.text("apple/xcode-app-receipt-with-transaction")) ?? []
    #expect(!original.isEmpty)
    for _ in 0..<2000 {
      var bytes = original
      for _ in 0..<3 {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
      _ = try? TransactionIdExtractor().appReceipt(Base64.encode(bytes))
    }
    let deep = Base64.encode(
      [UInt8](repeating: 0x30, count: 100_000).enumerated().map { $0.offset % 2 == 0 ? 0x30 : 0x80 })
    #expect(throws: TransactionIdExtractor.Failure.self) { try TransactionIdExtractor().appReceipt(deep) }
  }
}
