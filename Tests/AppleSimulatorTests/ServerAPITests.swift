import Testing
import WireJSON

@testable import AppleSimulator

@Suite struct ServerAPITests {
  static let spoilt: [(String, JSONObject, JSONObject)] = [
    ("another algorithm", ["alg": "ES384"], [:]), ("no algorithm", ["alg": "none"], [:]), ("no kid", ["kid": nil], [:]),
    ("an unknown kid", ["kid": "OTHER"], [:]), ("no typ", ["typ": nil], [:]),
    ("another issuer", [:], ["iss": "someone"]),
    ("another audience", [:], ["aud": "promotional-offer"]), ("no expiry", [:], ["exp": nil]),
    ("expired", [:], ["exp": 1_700_000_000]),
    ("lives too long", [:], ["exp": 4_000_000_000]), ("issued in the future", [:], ["iat": 4_000_000_000]),
    ("no bundle", [:], ["bid": nil]), ("an app of nobody", [:], ["bid": "com.example.other"]),
  ]

  @Test("an invalid token is answered 401 without a body", arguments: spoilt)
  func token(name: String, header: JSONObject, claims: JSONObject) async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let response = try await fixture.call(
      "GET", "/inApps/v1/transactions/1", token: try fixture.token(header: header, claims: claims))
    #expect(response.status == 401 && response.body.isEmpty, "\(name)")
  }

  @Test("a valid token is accepted, also without iat; a wrong signature and an unreleased app are refused")
  func tokens() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let path = "/inApps/v1/transactions/1"
    #expect(try await fixture.call("GET", path).errorCode == 4_040_010)
    #expect(try await fixture.call("GET", path, token: fixture.token(claims: ["iat": nil])).errorCode == 4_040_010)
    #expect(try await fixture.call("GET", path, token: fixture.token(key: .generate(.p256))).status == 401)
    #expect(try await fixture.call("GET", path, token: "").status == 401)
    try fixture.registerApp(notificationURL: nil, released: false)
    #expect(try await fixture.call("GET", path).status == 401)
    #expect(try await fixture.call("GET", path, environment: .sandbox).errorCode == 4_040_010)
  }

  static let badHistory: [(Int64, JSONObject)] = [
    (4_000_015, ["startDate": nil]), (4_000_015, ["startDate": "yesterday"]), (4_000_016, ["endDate": nil]),
    (4_000_013, ["endDate": 1]), (4_000_012, ["startDate": 1_500_000_000_000]),
    (4_000_018, ["notificationSubtype": "INITIAL_BUY"]),
    (4_000_018, ["notificationType": "DID_RENEW", "notificationSubtype": "VOLUNTARY"]),
    (4_000_018, ["notificationType": "NOTHING"]), (4_000_019, ["notificationType": "REFUND", "transactionId": "1"]),
    (4_000_006, ["transactionId": "abc"]), (4_000_000, ["onlyFailures": "yes"]),
  ]

  @Test("a history request that violates a rule gets Apple's error number for it", arguments: badHistory)
  func historyRules(code: Int64, change: JSONObject) async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    var body: JSONObject = ["startDate": .integer(fixture.now - 3_600_000), "endDate": .integer(fixture.now)]
    body.merge(change)
    let response = try await fixture.call("POST", "/inApps/v1/notifications/history", body: .object(body))
    #expect(response.errorCode == code && response.status == Int(code / 10_000))
  }

  @Test("history has pages of twenty, and a pagination token is valid only for the same request")
  func paging() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let made = try await fixture.control(
      "notifications", ["bundleId": "com.example.app", "notificationType": "DID_RENEW", "count": 45])
    let expected = Set((made["notifications"]?.arrayValue ?? []).compactMap { $0["signedPayload"]?.stringValue })
    let body: JSONValue = ["startDate": .integer(fixture.now - 600_000), "endDate": .integer(fixture.now + 600_000)]
    var seen: [String] = []
    var sizes: [Int] = []
    var token: String?
    repeat {
      let target = "/inApps/v1/notifications/history" + (token.map { "?paginationToken=" + $0 } ?? "")
      let response = try #require(try await fixture.call("POST", target, body: body).json)
      let items = response["notificationHistory"]?.arrayValue ?? []
      sizes.append(items.count)
      seen += items.compactMap { $0["signedPayload"]?.stringValue }
      #expect((response["hasMore"] == true) == (response["paginationToken"] != nil))
      if let token, sizes.count == 2 {
        let other: JSONValue = [
          "startDate": .integer(fixture.now - 600_001), "endDate": .integer(fixture.now + 600_000),
        ]
        #expect(
          try await fixture.call("POST", "/inApps/v1/notifications/history?paginationToken=" + token, body: other)
            .errorCode == 4_000_014)
      }
      token = response["paginationToken"]?.stringValue
    } while token != nil
    #expect(sizes == [20, 20, 5])
    #expect(seen.count == 45 && Set(seen) == expected)
    #expect(
      try await fixture.call("POST", "/inApps/v1/notifications/history?paginationToken=nonsense", body: body).errorCode
        == 4_000_014)
    #expect(
      try await fixture.call("POST", "/inApps/v1/notifications/history", body: body, environment: .sandbox).json?[
        "notificationHistory"] == [])
  }

  @Test("a pagination token expires")
  func expiry() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    _ = try await fixture.control(
      "notifications", ["bundleId": "com.example.app", "notificationType": "REFUND", "count": 21])
    let body: JSONValue = ["startDate": .integer(fixture.now - 600_000), "endDate": .integer(fixture.now + 600_000)]
    let token = try #require(
      try await fixture.call("POST", "/inApps/v1/notifications/history", body: body).json?["paginationToken"]?
        .stringValue)
    _ = try await fixture.control("pagination-tokens", ["lifeMilliseconds": 0])
    #expect(
      try await fixture.call("POST", "/inApps/v1/notifications/history?paginationToken=" + token, body: body).errorCode
        == 4_000_017)
  }

  @Test(
    "filters: a type without a subtype matches only notifications without one, a transaction matches its customer's, failures match the undelivered"
  )
  func filters() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let story = try await fixture.control(
      "notifications/story",
      [
        "bundleId": "com.example.app", "steps": ["buy", "renew", "grace", "recover"],
        "startDate": .integer(fixture.now - 100 * 86_400_000),
      ])
    _ = try await fixture.control("notifications", ["bundleId": "com.example.app", "notificationType": "DID_RENEW"])
    func count(_ filter: JSONObject) async throws -> Int? {
      var body: JSONObject = [
        "startDate": .integer(fixture.now - 120 * 86_400_000), "endDate": .integer(fixture.now + 1000),
      ]
      body.merge(filter)
      return try await fixture.call("POST", "/inApps/v1/notifications/history", body: .object(body)).json?[
        "notificationHistory"]?.arrayValue?.count
    }
    #expect(try await count([:]) == 5)
    #expect(try await count(["notificationType": "DID_RENEW"]) == 2)
    #expect(try await count(["notificationType": "DID_RENEW", "notificationSubtype": "BILLING_RECOVERY"]) == 1)
    #expect(try await count(["transactionId": story["originalTransactionId"]!]) == 4)
    #expect(try await count(["onlyFailures": true]) == 5)
    let uuid = try #require(story["notifications"]?.arrayValue?.first?["notificationUUID"]?.stringValue)
    fixture.parts.archive.addAttempt(uuid, .init(date: fixture.now, result: .success, status: 200))
    #expect(try await count(["onlyFailures": true]) == 4)
  }

  @Test("above the rate limit the answer is 429 with the time, in milliseconds, of the next allowed request")
  func rateLimit() async throws {
    let fixture = try SimulatorFixture(timeScale: 3600)
    defer { fixture.remove() }
    _ = try await fixture.control("rate-limits", ["endpoint": "transactionInfo", "perHour": 2])
    let statuses = try await (0..<3).asyncMap { _ in try await fixture.call("GET", "/inApps/v1/transactions/1") }
    #expect(statuses.map(\.status) == [404, 404, 429])
    #expect(statuses[2].errorCode == 4_290_000)
    let until = try #require(statuses[2].headers.first { $0.name == "retry-after" }.flatMap { Int64($0.value) })
    #expect(until > fixture.now - 2000 && until <= fixture.now + 1000)
    try await Task.sleep(for: .milliseconds(1100))
    #expect(try await fixture.call("GET", "/inApps/v1/transactions/1").status == 404)
  }

  @Test("transaction history: pages, sort, filters, and a revision that returns only changes")
  func transactions() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let steps = [JSONValue.string("buy")] + [JSONValue](repeating: "renew", count: 24)
    let story = try await fixture.control(
      "notifications/story", ["bundleId": "com.example.app", "steps": .array(steps), "periodDays": 3])
    let id = try #require(story["originalTransactionId"]?.stringValue)
    func page(_ query: String) async throws -> JSONValue {
      try #require(try await fixture.call("GET", "/inApps/v2/history/\(id)?\(query)").json)
    }
    let first = try await page("")
    #expect(first["signedTransactions"]?.arrayValue?.count == 20 && first["hasMore"] == true)
    let second = try await page("revision=" + (first["revision"]?.stringValue ?? ""))
    #expect(second["signedTransactions"]?.arrayValue?.count == 5 && second["hasMore"] == false)
    let last = second["revision"]?.stringValue ?? ""
    #expect(try await page("revision=" + last)["signedTransactions"] == [])
    let newest = try payload(try await page("sort=DESCENDING")["signedTransactions"]?.arrayValue?.first?.stringValue)
    #expect(newest["transactionReason"] == "RENEWAL" && newest["originalTransactionId"] == .string(id))
    #expect(try await page("productType=CONSUMABLE")["signedTransactions"] == [])
    #expect(try await page("revoked=true")["signedTransactions"] == [])
    for (query, code) in [
      ("sort=UP", 4_000_021), ("productType=X", 4_000_022), ("productId=", 4_000_023), ("revision=x", 4_000_005),
      ("revoked=TRUE", 4_000_030),
      ("startDate=9&endDate=3", 4_000_013), ("inAppOwnershipType=MINE", 4_000_026),
    ] as [(String, Int64)] {
      #expect(try await page(query)["errorCode"] == .integer(code), "\(query)")
    }
    _ = try await fixture.control(
      "notifications",
      [
        "bundleId": "com.example.app", "notificationType": "REFUND", "originalTransactionId": .string(id),
      ])
    #expect(try await page("revision=" + last)["signedTransactions"]?.arrayValue?.count == 1)
    let refunds = try #require(try await fixture.call("GET", "/inApps/v2/refund/lookup/\(id)").json)
    #expect(refunds["signedTransactions"]?.arrayValue?.count == 1)
    let again = try await fixture.call(
      "GET", "/inApps/v2/refund/lookup/\(id)?revision=" + (refunds["revision"]?.stringValue ?? ""))
    #expect(again.json?["signedTransactions"] == [])
  }

  static let stories: [(String, JSONValue, Int64, String)] = [
    ("bought", ["buy"], 1, "SUBSCRIBED"), ("in grace", ["buy", "grace"], 4, "DID_FAIL_TO_RENEW"),
    ("failing", ["buy", "fail"], 3, "DID_FAIL_TO_RENEW"),
    ("after grace", ["buy", "grace", "grace-expired"], 3, "GRACE_PERIOD_EXPIRED"),
    ("over", ["buy", "cancel", "expire"], 2, "EXPIRED"),
    ("refunded", ["buy", "refund"], 5, "REFUND"),
    ("given back", ["buy", "refund", "refund-reversed"], 1, "REFUND_REVERSED"),
    ("back again", ["buy", "cancel", "expire", "resubscribe"], 1, "SUBSCRIBED"),
  ]

  @Test("statuses show the present state of each subscription", arguments: stories)
  func statuses(name: String, steps: JSONValue, status: Int64, type: String) async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let story = try await fixture.control(
      "notifications/story", ["bundleId": "com.example.app", "environment": "Sandbox", "steps": steps])
    #expect(story["notifications"]?.arrayValue?.last?["notificationType"] == .string(type))
    let id = try #require(story["originalTransactionId"]?.stringValue)
    let response = try await fixture.call("GET", "/inApps/v1/subscriptions/\(id)", environment: .sandbox)
    let entry = response.json?["data"]?.arrayValue?.first?["lastTransactions"]?.arrayValue?.first
    #expect(entry?["status"] == .integer(status), "\(name)")
    #expect(response.json?["appAppleId"] == nil)
    #expect(try await fixture.call("GET", "/inApps/v1/subscriptions/\(id)").errorCode == 4_040_010)
  }

  @Test("orders, extensions, account tokens and consumption follow Apple's rules")
  func others() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let story = try await fixture.control("notifications/story", ["bundleId": "com.example.app", "steps": ["buy"]])
    let id = try #require(story["originalTransactionId"]?.stringValue)
    #expect(try await fixture.call("GET", "/inApps/v1/lookup/NOTHING").json?["status"] == 1)
    #expect(try await fixture.call("GET", "/inApps/v1/lookup/NOTHING", environment: .sandbox).status == 404)
    func extend(_ days: Int64) async throws -> SimulatedResponse {
      try await fixture.call(
        "PUT", "/inApps/v1/subscriptions/extend/\(id)",
        body: [
          "extendByDays": .integer(days), "extendReasonCode": 1, "requestIdentifier": "r",
        ])
    }
    #expect(try await extend(91).errorCode == 4_000_009)
    #expect(try await extend(10).json?["success"] == true)
    #expect(try await extend(10).status == 200)
    #expect(try await extend(10).errorCode == 4_030_005)
    let account = "/inApps/v1/transactions/\(id)/appAccountToken"
    #expect(try await fixture.call("PUT", account, body: ["appAccountToken": "no"]).errorCode == 4_000_183)
    #expect(
      try await fixture.call("PUT", account, body: ["appAccountToken": "7E3FB204-2FD4-4B9A-A2D1-1BD0C0C5F6A3"]).status
        == 200)
    let info = try await fixture.call("GET", "/inApps/v1/transactions/\(id)")
    #expect(
      try payload(info.json?["signedTransactionInfo"]?.stringValue)["appAccountToken"]
        == "7E3FB204-2FD4-4B9A-A2D1-1BD0C0C5F6A3")
    let consumption = "/inApps/v2/transactions/consumption/\(id)"
    #expect(try await fixture.call("PUT", consumption, body: ["customerConsented": false]).errorCode == 4_000_035)
    #expect(
      try await fixture.call(
        "PUT", consumption,
        body: [
          "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
        ]
      ).status == 202)
    #expect(try await fixture.call("POST", "/inApps/v1/notifications/test").errorCode == 4_040_007)
    #expect(try await fixture.call("GET", "/inApps/v1/notifications/test/x").errorCode == 4_000_020)
    #expect(try await fixture.call("GET", "/inapps/v1/transactions/\(id)").status == 404)
  }
}

@Suite struct StoryTests {
  @Test("a story continues where the previous one ended, and signs nothing in the future")
  func goesOn() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    let first = try await fixture.control(
      "notifications/story", ["bundleId": "com.example.app", "steps": ["buy", "renew"]])
    let id = try #require(first["originalTransactionId"])
    let second = try await fixture.control(
      "notifications/story",
      ["bundleId": "com.example.app", "steps": ["renew", "cancel", "expire"], "originalTransactionId": id])
    #expect(second["originalTransactionId"] == id && second["status"] == 2)
    let dates = [first, second].flatMap { $0["notifications"]?.arrayValue ?? [] }.compactMap {
      $0["signedDate"]?.int64Value
    }
    #expect(dates.count == 5 && dates == dates.sorted() && dates.allSatisfy { $0 <= fixture.now })
    await #expect(throws: ControlError.self) {
      try await fixture.control("notifications/story", ["bundleId": "com.example.app", "steps": ["dance"]])
    }
  }
}

@Suite struct MassExtensionTests {
  @Test("a mass extension takes its (scaled) hour, sends a notification for each subscriber and ends with a summary")
  func mass() async throws {
    let fixture = try SimulatorFixture(timeScale: 3600)
    defer { fixture.remove() }
    for steps in [["buy"], ["buy"], ["buy", "cancel"], ["buy", "fail"]] as [JSONValue] {
      _ = try await fixture.control("notifications/story", ["bundleId": "com.example.app", "steps": steps])
    }
    let path = "/inApps/v1/subscriptions/extend/mass"
    let request = "758883e8-151b-47b7-abd0-60c4d804c2f5"
    var body: JSONObject = [
      "extendByDays": 7, "extendReasonCode": 3, "requestIdentifier": .string(request),
      "productId": "com.example.app.monthly",
    ]
    #expect(try await fixture.call("GET", "\(path)/com.example.app.monthly/\(request)").errorCode == 4_040_009)
    for (change, code) in [
      (["requestIdentifier": "r"], 4_000_011), (["storefrontCountryCodes": []], 4_000_027),
      (["storefrontCountryCodes": ["us"]], 4_000_028),
      (["extendReasonCode": 4], 4_000_010),
    ] as [(JSONObject, Int64)] {
      var wrong = body
      wrong.merge(change)
      #expect(try await fixture.call("POST", path, body: .object(wrong)).errorCode == code)
    }
    body["storefrontCountryCodes"] = ["USA"]
    #expect(try await fixture.call("POST", path, body: .object(body)).json?["requestIdentifier"] == .string(request))
    let status = "\(path)/com.example.app.monthly/\(request)"
    #expect(try await fixture.call("GET", status).json?["complete"] == false)
    try await Task.sleep(for: .milliseconds(1100))
    let done = try #require(try await fixture.call("GET", status).json)
    #expect(done["complete"] == true && done["succeededCount"] == 2 && done["failedCount"] == 1)
    let types = try #require(try await fixture.control("notifications")["notifications"]?.arrayValue).suffix(4).map {
      ($0["notificationType"]?.stringValue ?? "") + "/" + ($0["subtype"]?.stringValue ?? "")
    }
    #expect(
      types.sorted() == [
        "RENEWAL_EXTENDED/", "RENEWAL_EXTENDED/", "RENEWAL_EXTENSION/FAILURE", "RENEWAL_EXTENSION/SUMMARY",
      ])
  }
}

extension Sequence where Self: Sendable {
  func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
