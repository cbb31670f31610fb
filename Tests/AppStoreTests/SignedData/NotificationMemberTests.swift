import Cryptography
import TestSupport
import Testing
import WireJSON

@testable import AppStore

/// Notifications that lack members, or have types and objects that are not known.
@Suite("Notifications that lack or add a member")
struct NotificationMemberTests {
  private static let now = MissingMemberTests.now
  private static let app = MissingMemberTests.app

  private func verdict(_ payload: JSONObject, _ expecting: SignedDataExpectation = .init(requiresKnownApp: true)) throws
    -> SignedDataVerdict
  {
    try MissingMemberTests.verdict(payload, .notification, expecting)
  }

  private func transaction(_ change: (inout JSONObject) -> Void = { _ in }, environment: String = "Production") throws -> JSONValue {
    var payload = SimulatedAppStore.transaction(at: Self.now, environment: environment)
    change(&payload)
    return try MissingMemberTests.sign(payload)
  }

  @Test("a nested transaction that names neither app nor environment is about those of the notification")
  func nestedNameless() throws {
    let nested = try transaction {
      $0["bundleId"] = nil
      $0["environment"] = nil
    }
    let renewal = try MissingMemberTests.sign(
      SimulatedAppStore.renewalInfo(at: Self.now).with("environment", nil).with("originalTransactionId", nil))
    let verdict = try verdict(
      SimulatedAppStore.notification("REFUND", having: ["signedTransactionInfo": nested, "signedRenewalInfo": renewal], at: Self.now))
    #expect(verdict.valid && verdict.known == true && verdict.bundleId == Self.app.bundleId)
    #expect(verdict.transactionInfo?["transactionId"] == "2000" && verdict.renewalInfo?["autoRenewStatus"] == 1)
    let appTransaction = try MissingMemberTests.sign(
      SimulatedAppStore.appTransaction(at: Self.now).with("bundleId", nil).with("appAppleId", nil).with("receiptType", nil))
    let rescinded = SimulatedAppStore.notification(
      "RESCIND_CONSENT", holder: "appData", having: ["signedAppTransactionInfo": appTransaction], at: Self.now)
    #expect(try self.verdict(rescinded).appTransactionInfo?["appTransactionId"] == "7")
  }

  @Test("a notification without its UUID and its type is known to be one by an object that names the app")
  func withoutOwnMembers() throws {
    let bare = SimulatedAppStore.notification(at: Self.now).with("notificationUUID", nil).with("notificationType", nil)
    let verdict = try verdict(bare)
    #expect(verdict.valid && verdict.known == false && verdict.bundleId == Self.app.bundleId)
    let other = SimulatedAppStore.notification(having: ["bundleId": "com.example.stranger"], at: Self.now)
      .with("notificationUUID", nil).with("notificationType", nil)
    #expect(try self.verdict(other).reason == .wrongApp)
    let nameless = SimulatedAppStore.notification(having: ["bundleId": .null, "appAppleId": .null], at: Self.now)
      .with("notificationUUID", nil).with("notificationType", nil)
    #expect(try self.verdict(nameless).reason == .malformed)
    #expect(try self.verdict(bare.with("transactionId", "1").with("data", nil)).reason == .malformed)
  }

  @Test("nested data of which nothing shows what it is is left out, and the notification is not known")
  func nestedBare() throws {
    let names = ["signedTransactionInfo", "signedRenewalInfo"]
    for name in names {
      func verdict(_ payload: JSONObject) throws -> SignedDataVerdict {
        let whole = try MissingMemberTests.sign(
          name == names[0] ? SimulatedAppStore.renewalInfo(at: Self.now) : SimulatedAppStore.transaction(at: Self.now))
        let other = name == names[0] ? names[1] : names[0]
        let members: JSONObject = [name: try MissingMemberTests.sign(payload), other: whole]
        return try self.verdict(SimulatedAppStore.notification("REFUND", having: members, at: Self.now))
      }
      for payload in [[:], ["productId": "pro"], ["originalTransactionId": "1000", "signedDate": .integer(Self.now)]] as [JSONObject] {
        let verdict = try verdict(payload)
        #expect(verdict.valid && verdict.known == false, "\(name)")
        #expect((verdict.transactionInfo == nil) == (name == names[0]) && (verdict.renewalInfo == nil) == (name == names[1]))
      }
      #expect(try verdict(["bundleId": "com.example.other"]).reason == .wrongApp)
      #expect(try verdict(["environment": "Sandbox", "bundleId": "com.example.other"]).reason == .wrongApp)
      #expect(try verdict(["environment": "Sandbox"]).reason == .wrongEnvironment)
      // Data of another kind stays refused.
      let strange = try verdict(SimulatedAppStore.appTransaction(at: Self.now))
      #expect(strange.reason == .malformed && strange.field == name)
    }
    let forged = SimulatedAppStore.notification("REFUND", having: ["signedRenewalInfo": "e30.e30.AAAA"], at: Self.now)
    #expect(try !verdict(forged).valid)
  }

  @Test("nested data of another app or environment is refused", arguments: ["com.example.other", "com.example.ap", "COM.EXAMPLE.APP"])
  func nestedOther(bundleId: String) throws {
    let nested = try transaction { $0["bundleId"] = .string(bundleId) }
    for missing in [nil, "bundleId", "appAppleId"] {
      var members: JSONObject = ["signedTransactionInfo": nested]
      if let missing { members[missing] = .null }
      #expect(try verdict(SimulatedAppStore.notification("REFUND", having: members, at: Self.now)).reason == .wrongApp)
    }
    let sandbox = try transaction(environment: "Sandbox")
    #expect(
      try verdict(SimulatedAppStore.notification("REFUND", having: ["signedTransactionInfo": sandbox], at: Self.now)).reason
        == .wrongEnvironment)
    let number = try MissingMemberTests.sign(SimulatedAppStore.appTransaction(at: Self.now).with("appAppleId", 42))
    let rescinded = SimulatedAppStore.notification(
      "RESCIND_CONSENT", holder: "appData", having: ["signedAppTransactionInfo": number], at: Self.now)
    #expect(try verdict(rescinded).reason == .wrongApp)
  }

  @Test("the app is told by the bundle id or the Apple id alone, in both environments", arguments: ["Production", "Sandbox"])
  func oneName(environment: String) throws {
    let named: [JSONObject] = [
      ["appAppleId": .null], ["bundleId": .null, "appAppleId": .integer(SimulatedAppStore.appAppleId)],
      ["bundleId": 5, "appAppleId": .integer(SimulatedAppStore.appAppleId)], ["appAppleId": "525463029"],
    ]
    for members in named {
      for expected in [nil, Self.app.bundleId] {
        let payload = SimulatedAppStore.notification(having: members, at: Self.now, environment: environment)
        let verdict = try verdict(payload, SignedDataExpectation(bundleId: expected, requiresKnownApp: true))
        #expect(verdict.valid && verdict.bundleId == Self.app.bundleId, "\(members)")
      }
    }
    for id in [7, 42] as [JSONValue] {
      let payload = SimulatedAppStore.notification(having: ["bundleId": .null, "appAppleId": id], at: Self.now, environment: environment)
      let expecting = SignedDataExpectation(bundleId: Self.app.bundleId, requiresKnownApp: true, trustedSource: true)
      #expect(try verdict(payload, expecting).reason == .wrongApp)
    }
  }

  @Test("a notification that names no app is told by the JWS inside it or by a trusted source, and otherwise has its own reason")
  func nameless() throws {
    let nameless: JSONObject = ["bundleId": .null, "appAppleId": .null, "environment": .null]
    let nested = SimulatedAppStore.notification("REFUND", having: nameless.with("signedTransactionInfo", try transaction()), at: Self.now)
    let told = try verdict(nested)
    #expect(told.valid && told.bundleId == Self.app.bundleId && told.environment == "Production")
    let bare = SimulatedAppStore.notification(having: nameless.with("environment", "Sandbox"), at: Self.now)
    for expected in [nil, Self.app.bundleId] {
      #expect(try verdict(bare, SignedDataExpectation(bundleId: expected, requiresKnownApp: true)).reason == .appNotNamed)
    }
    let trusted = try verdict(bare, SignedDataExpectation(bundleId: Self.app.bundleId, requiresKnownApp: true, trustedSource: true))
    #expect(trusted.valid && trusted.bundleId == Self.app.bundleId)
    // Without an environment, not even a trusted source tells all.
    let nowhere = SimulatedAppStore.notification(having: nameless, at: Self.now)
    #expect(
      try verdict(nowhere, SignedDataExpectation(bundleId: Self.app.bundleId, requiresKnownApp: true, trustedSource: true)).reason
        == .wrongEnvironment)
    let forged = SimulatedAppStore.notification("REFUND", having: nameless.with("signedTransactionInfo", "a.b.c"), at: Self.now)
    #expect(try verdict(forged).reason == .malformedJWS)
  }

  @Test(
    "a type that nobody knows is verified as not known",
    arguments: ["A_NEW_TYPE", "UNCLAIM_SEATS", "", nil, 5, ["REFUND"]] as [JSONValue?])
  func unknownType(type: JSONValue?) throws {
    let payload = SimulatedAppStore.notification(having: ["signedTransactionInfo": try transaction()], at: Self.now).with(
      "notificationType", type)
    let verdict = try verdict(payload)
    #expect(verdict.valid && verdict.known == false && verdict.transactionInfo != nil)
  }

  @Test("an unknown subtype, version and member leave a notification known")
  func stillKnown() throws {
    let payload = SimulatedAppStore.notification(having: ["newMember": ["a": 1]], at: Self.now)
      .with("subtype", "SEATS").with("version", "3.0").with("newMember", "text").with("signedGroupInfo", "a.b.c")
    #expect(try verdict(payload).known == true)
    #expect(try verdict(payload.with("subtype", 5).with("version", nil).with("signedDate", nil)).known == true)
  }

  @Test("an object of a new name tells the app in place of data", arguments: ["unclaimInfo", "somethingData", "other"])
  func unknownHolder(holder: String) throws {
    let seats: JSONValue = ["6f5902ac-237f-4d8b-9a4f-2c7f0c5f6f11"]
    let alone = SimulatedAppStore.notification("UNCLAIM_SEATS", holder: holder, having: ["unclaimSeatIds": seats], at: Self.now)
    let verdict = try verdict(alone)
    #expect(verdict.valid && verdict.known == false && verdict.bundleId == Self.app.bundleId && verdict.appAppleId == Self.app.appAppleId)
    #expect(verdict.payload?[holder]?["unclaimSeatIds"] == seats)
    let nameless: JSONObject = ["bundleId": .null, "appAppleId": .null, "environment": "Production", "unclaimSeatIds": seats]
    let unnamed = SimulatedAppStore.notification("UNCLAIM_SEATS", holder: holder, having: nameless, at: Self.now)
    #expect(try self.verdict(unnamed).reason == .appNotNamed)
    // Named by the payload itself, or by a transaction inside the object.
    #expect(try self.verdict(unnamed.with("bundleId", .string(Self.app.bundleId))).valid)
    let told = SimulatedAppStore.notification(
      "UNCLAIM_SEATS", holder: holder, having: nameless.with("signedTransactionInfo", try transaction()), at: Self.now)
    #expect(try self.verdict(told).transactionInfo?["transactionId"] == "2000")
  }

  @Test("beside data, an object of a new name changes nothing about the app, and the notification is not known")
  func holderBesideData() throws {
    let payload = SimulatedAppStore.notification("DID_RENEW", at: Self.now)
    let added: [JSONValue] = [
      [:], ["unclaimSeatIds": []], ["bundleId": .string(Self.app.bundleId)], ["bundleId": "com.example.other", "environment": "Sandbox"],
    ]
    for object in added {
      let verdict = try verdict(payload.with("somethingData", object))
      #expect(verdict.valid && verdict.known == false && verdict.bundleId == Self.app.bundleId && verdict.environment == "Production")
    }
    // What is not an object is about nothing.
    #expect(try verdict(payload.with("somethingData", ["text"])).known == true)
  }

  @Test("objects that count the same must name the same app and environment")
  func contradictions() throws {
    let payload = SimulatedAppStore.notification("DID_RENEW", at: Self.now)
    let same: JSONObject = ["bundleId": .string(Self.app.bundleId), "environment": "Production"]
    for holder in ["summary", "appData"] {
      #expect(try verdict(payload.with(holder, .object(same))).valid)
      #expect(try verdict(payload.with(holder, .object(same.with("bundleId", "com.example.other")))).reason == .wrongApp)
      #expect(try verdict(payload.with(holder, .object(same.with("appAppleId", 42)))).reason == .wrongApp)
      #expect(try verdict(payload.with(holder, .object(same.with("environment", "Sandbox")))).reason == .wrongEnvironment)
    }
    var two = SimulatedAppStore.notification("NEW", holder: "aData", at: Self.now)
    two["bData"] = ["bundleId": "com.example.other"]
    #expect(try verdict(two).reason == .wrongApp)
  }

  @Test("no member of a notification, or of the JWS inside it, makes it malformed if it is missing, of another type, or new")
  func property() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededRandom(seed: seed)
    let values: [JSONValue?] = [nil, .null, "", "text", 5, -1, true, [], [1, "a"], [:], ["a": ["b": 1]]]
    let verifier = try MissingMemberTests.verifier()
    let signer = try #require(SimulatedAppStore.shared)
    for round in 0..<400 {
      let environment = Bool.random(using: &generator) ? "Production" : "Sandbox"
      var transaction = SimulatedAppStore.transaction(at: Self.now, environment: environment)
      var renewal = SimulatedAppStore.renewalInfo(at: Self.now, environment: environment)
      var notification = SimulatedAppStore.notification("REFUND", having: ["status": 1], at: Self.now, environment: environment)
      var data = notification["data"]?.objectValue ?? [:]
      func change(_ object: inout JSONObject) -> String {
        let name = Int.random(in: 0..<5, using: &generator) == 0 ? "newMember" : object.keys.randomElement(using: &generator) ?? ""
        object[name] = values.randomElement(using: &generator) ?? nil
        return name
      }
      let level = round % 4
      var name = ""
      if level == 0 { name = change(&transaction) }
      if level == 1 { name = change(&renewal) }
      data["signedTransactionInfo"] = .string(try signer.sign(transaction))
      data["signedRenewalInfo"] = .string(try signer.sign(renewal))
      if level == 2 { name = change(&data) }
      notification["data"] = .object(data)
      if level == 3 { name = change(&notification) }
      let text = try signer.sign(notification)
      let expecting = SignedDataExpectation(requiresKnownApp: true)
      let verdict = verifier.verdict(on: text, kind: .notification, expecting: expecting, now: Self.now)
      let context = "seed \(seed), round \(round), level \(level), \(name)"
      #expect(verdict.payload == notification || verdict.reason == .chainInvalid, "\(context)")
      #expect(verdict.valid == (verdict.reason == nil) && verdict.reason != .malformed, "\(context): \(verdict)")
      // Only texts name another app or environment, or are no JWS; without `data`, nothing names the app.
      let isText = ["text"].contains(
        (level == 0 ? transaction : level == 1 ? renewal : level == 2 ? data : notification)[name]?.stringValue)
      switch verdict.reason {
      case nil: #expect(verdict.bundleId == Self.app.bundleId && verdict.environment == environment, "\(context)")
      case .wrongApp:
        let isNumber = name == "appAppleId" && data[name]?.int64Value != nil
        #expect(isText || isNumber, "\(context)")
      case .wrongEnvironment, .malformedJWS: #expect(isText, "\(context)")
      case .appNotNamed: #expect(name == "data", "\(context)")
      // A number is a date, here one before the certificates.
      case .chainInvalid: #expect(name == "signedDate", "\(context)")
      default: Issue.record("\(context): \(verdict)")
      }
      // The same text gets the same keys before and after its verification.
      let found = NotificationSniffer(signedPayload: text)
      #expect(found.identifier != nil && (!verdict.valid || found.environment == verdict.environment), "\(context)")
      _ = LifecycleStep(
        notification: notification, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo)
    }
  }
}
