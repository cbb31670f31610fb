import Foundation
import Testing
import WireJSON

@testable import AppleSimulator

@Suite struct SignatureTests {
  /// The order of the signed values, independent of the implementation (*Combining parameters …*).
  static let orders: [String: [String]] = [
    "1.0": ["ad-network-id", "campaign-id", "app-id", "transaction-id"],
    "2.0": ["version", "ad-network-id", "campaign-id", "app-id", "transaction-id", "redownload", "source-app-id"],
    "2.1": ["version", "ad-network-id", "campaign-id", "app-id", "transaction-id", "redownload", "source-app-id"],
    "2.2": [
      "version", "ad-network-id", "campaign-id", "app-id", "transaction-id", "redownload", "source-app-id",
      "fidelity-type",
    ],
    "3.0": [
      "version", "ad-network-id", "campaign-id", "app-id", "transaction-id", "redownload", "source-app-id",
      "fidelity-type", "did-win",
    ],
    "4.0": [
      "version", "ad-network-id", "source-identifier", "app-id", "transaction-id", "redownload", "source-app-id",
      "source-domain",
      "fidelity-type", "did-win", "postback-sequence-index",
    ],
  ]

  static let requests: [(String, JSONObject)] = [
    ("1.0", ["version": "1.0"]), ("2.0", ["version": "2.0"]), ("2.1", ["version": "2.1"]), ("2.2", ["version": "2.2"]),
    ("3.0", ["version": "3.0"]), ("3.0", ["version": "3.0", "didWin": false]), ("4.0", ["version": "4.0"]),
    ("4.0", ["version": "4.0", "didWin": false]), ("4.0", ["version": "4.0", "web": true]),
    ("4.0", ["version": "4.0", "sequenceIndex": 1]), ("4.0", ["version": "4.0", "sequenceIndex": 2]),
    ("2.0", ["version": "2.0", "fields": ["source-app-id": nil]]),
  ]

  @Test("openssl verifies a SKAdNetwork postback of every version", arguments: requests)
  func skadnetwork(version: String, request: JSONObject) throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let keys = fixture.parts.deviceKeys
    let postback = try SKAdNetworkPostbackMaker(keys: keys, random: fixture.parts.random).make(request)
    let body = try #require(try JSONSerialization.jsonObject(with: Data(postback.body.utf8)) as? [String: Any])
    let text = Self.orders[version]!.compactMap { name -> String? in
      guard let value = body[name] else { return nil }
      if ["redownload", "did-win"].contains(name) { return (value as? Bool) == true ? "true" : "false" }
      return "\(value)"
    }.joined(separator: "\u{2063}")
    let signature = try #require(Data(base64Encoded: body["attribution-signature"] as? String ?? ""))
    let key = ["1.0", "2.0"].contains(version) ? keys.p192 : keys.p256
    #expect(try OpenSSLCommand.verifies(Array(signature), of: Array(text.utf8), publicKeyDER: key.publicDER()))
    #expect(try !OpenSSLCommand.verifies(Array(signature), of: Array((text + "0").utf8), publicKeyDER: key.publicDER()))
    #expect((body["conversion-value"] == nil) || (body["coarse-conversion-value"] == nil))
  }

  @Test("only winning postbacks have a source app and a conversion value, and only the first window has a fine value")
  func privacy() throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let maker = SKAdNetworkPostbackMaker(keys: fixture.parts.deviceKeys, random: fixture.parts.random)
    let lost = try maker.make(["didWin": false]).body
    for name in ["source-app-id", "conversion-value", "coarse-conversion-value"] { #expect(!lost.contains(name)) }
    let second = try maker.make(["sequenceIndex": 1]).body
    #expect(second.contains(#""source-identifier":"39""#) && second.contains("coarse-conversion-value"))
    #expect(!second.contains(#""conversion-value""#))
    #expect(throws: PostbackError.self) { try maker.make(["version": "2.2", "didWin": false]) }
    #expect(throws: PostbackError.self) { try maker.make(["didWin": false, "sequenceIndex": 1]) }
    #expect(throws: PostbackError.self) { try maker.make(["version": "5.0"]) }
  }

  @Test(
    "openssl verifies an AdAttributionKit postback with the key that its kid names",
    arguments: ["production", "development", "settings"])
  func adAttributionKit(environment: String) throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let keys = fixture.parts.deviceKeys
    let postback = try AdAttributionKitPostbackMaker(keys: keys, random: fixture.parts.random).make([
      "environment": .string(environment)
    ])
    let body = try JSONValue(parsing: postback.body)
    let parts = (body["jws-string"]?.stringValue ?? "").split(separator: ".").map { String($0) }
    let header = String(decoding: try #require(Base64Text.decodeURL(parts[0])), as: UTF8.self)
    #expect(header.contains(#"\/"#))
    let kid = try #require(try JSONValue(parsing: header)["kid"]?.stringValue)
    let key = try #require(keys.key(kid: kid))
    let raw = try #require(Base64Text.decodeURL(parts[2]))
    #expect(raw.count == 64)
    #expect(
      try OpenSSLCommand.verifies(
        OpenSSLCommand.der(raw), of: Array((parts[0] + "." + parts[1]).utf8), publicKeyDER: key.publicDER()))
    if environment == "settings" {
      #expect(try payload(body["jws-string"]?.stringValue)["ad-network-identifier"] == "development.adattributionkit")
    }
  }

  @Test("a corrupted postback differs in one byte that the signature protects")
  func corruption() throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let postback = try SKAdNetworkPostbackMaker(keys: fixture.parts.deviceKeys, random: fixture.parts.random).make([:])
    let damaged = postback.corrupted(position: nil)
    #expect(zip(postback.body.utf8, damaged.utf8).filter { $0 != $1 }.count == 1)
    let json = try JSONValue(parsing: damaged)
    #expect(json["transaction-id"] != .string(postback.identifier))
  }

  @Test("the App Store's chain passes openssl's strict mode and has Apple's two extensions")
  func chain() throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let files = ["root", "intermediate", "leaf"].map { fixture.path + "/app-store-\($0).pem" }
    let verified = try OpenSSLCommand.run([
      "verify", "-x509_strict", "-check_ss_sig", "-CAfile", files[0], "-untrusted", files[1], files[2],
    ])
    #expect(verified.status == 0, "\(verified.text)")
    for (file, mark) in [(files[2], "1.2.840.113635.100.6.11.1"), (files[1], "1.2.840.113635.100.6.2.1")] {
      let parsed = try OpenSSLCommand.run(["asn1parse", "-in", file])
      #expect(parsed.text.contains(mark))
      #expect(parsed.text.contains("[HEX DUMP]:0500"))
    }
    let stranger = try OpenSSLCommand.run([
      "verify", "-CAfile", files[0], "-untrusted", fixture.path + "/stranger-intermediate.pem",
      fixture.path + "/stranger-leaf.pem",
    ])
    #expect(stranger.status != 0)
  }

  @Test("a notification and the JWS in it verify with the leaf of their x5c, and forgeries do not")
  func notification() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let made = try await fixture.control(
      "notifications",
      [
        "bundleId": "com.example.app", "notificationType": "DID_RENEW", "subtype": "BILLING_RECOVERY",
      ])
    let outer = try #require(made["signedPayload"]?.stringValue)
    let data = try #require(try payload(outer)["data"])
    for jws in [outer, data["signedTransactionInfo"]?.stringValue ?? "", data["signedRenewalInfo"]?.stringValue ?? ""] {
      #expect(try verifiesUnderItsLeaf(jws))
    }
    #expect(data["appAppleId"] == 525_463_029)
    let forged = try await fixture.control(
      "notifications",
      [
        "bundleId": "com.example.app", "notificationType": "DID_RENEW", "forge": "signature",
      ])
    #expect(try !verifiesUnderItsLeaf(forged["signedPayload"]?.stringValue ?? ""))
    let sandbox = try await fixture.control(
      "notifications",
      [
        "bundleId": "com.example.app", "notificationType": "TEST", "environment": "Sandbox",
      ])
    let test = try #require(try payload(sandbox["signedPayload"]?.stringValue)["data"])
    #expect(test["appAppleId"] == nil && test["signedTransactionInfo"] == nil && test["environment"] == "Sandbox")
  }

  private func verifiesUnderItsLeaf(_ jws: String) throws -> Bool {
    let parts = jws.split(separator: ".").map { String($0) }
    let header = try JSONValue(parsing: try #require(Base64Text.decodeURL(parts[0])))
    #expect(header["alg"] == "ES256" && header["x5c"]?.arrayValue?.count == 3)
    let leaf = try #require(Data(base64Encoded: header["x5c"]?.arrayValue?[0].stringValue ?? ""))
    return try OpenSSLCommand.inDirectory { directory in
      try leaf.write(to: URL(fileURLWithPath: directory + "/leaf.der"))
      let pem = try OpenSSLCommand.run(["x509", "-inform", "DER", "-in", directory + "/leaf.der", "-noout", "-pubkey"])
        .text
      let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
      let raw = try #require(Base64Text.decodeURL(parts[2]))
      return try OpenSSLCommand.verifies(
        OpenSSLCommand.der(raw), of: Array((parts[0] + "." + parts[1]).utf8),
        publicKeyDER: Array(try #require(Data(base64Encoded: base64))))
    }
  }

  @Test("keys are the same after a restart, and only the owner can read key files")
  func restart() throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let again = try AppleSimulator(AppleSimulator.Configuration(stateDirectory: fixture.path))
    #expect(try again.parts.deviceKeys.p192.publicDER() == fixture.parts.deviceKeys.p192.publicDER())
    #expect(again.parts.serverAPI.factory.signer.header == fixture.parts.serverAPI.factory.signer.header)
    #expect(again.parts.apps.app("com.example.app")?.keys.count == 1)
    for name in try FileManager.default.contentsOfDirectory(atPath: fixture.path) where name.hasSuffix("-key.pem") {
      let mode = try FileManager.default.attributesOfItem(atPath: fixture.path + "/" + name)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }
}
