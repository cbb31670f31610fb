import Testing
import WireJSON

@testable import AppStore

@Suite("Requests to the Advanced Commerce API")
struct AdvancedCommerceRequestTests {
  typealias Operation = AdvancedCommerceRequest.Operation

  static let reference = "932c6903-0ab8-4469-9f21-015f6fab013c"
  static let info: JSONValue = ["requestReferenceId": .string(reference)]
  /// One valid body of each kind.
  static let good: [Operation: JSONObject] = [
    .changeMetadata: [
      "requestInfo": info, "storefront": "USA", "taxCode": "S001-03050614-1",
      "descriptors": ["effective": "IMMEDIATELY", "displayName": "Name", "description": "Text"],
      "items": [["currentSKU": "A", "SKU": "B", "effective": "NEXT_BILL_CYCLE", "displayName": "Name", "description": "Text"]],
    ],
    .migrate: [
      "requestInfo": info, "descriptors": ["displayName": "Name", "description": "Text"], "taxCode": "C003-00-1",
      "targetProductId": "com.example.aca.generic.subscription", "items": [["SKU": "A", "displayName": "Name", "description": "Text"]],
      "renewalItems": [["SKU": "A", "displayName": "Name", "description": "Text"]],
    ],
    .changePrice: [
      "requestInfo": info, "currency": "USD", "storefront": "USA",
      "items": [["SKU": "A", "price": 12990, "dependentSKUs": ["B"]], ["SKU": "B", "price": 0]],
    ],
    .cancel: ["requestInfo": info, "storefront": "USA"],
    .revoke: ["requestInfo": info, "refundReason": "LEGAL", "refundRiskingPreference": false, "refundType": "PRORATED"],
    .requestRefund: [
      "requestInfo": info, "currency": "EUR", "refundRiskingPreference": true,
      "items": [
        ["SKU": "A", "refundReason": "OTHER", "refundType": "CUSTOM", "refundAmount": 1, "revoke": false],
        ["SKU": "B", "refundReason": "FULFILLMENT_ISSUE", "refundType": "FULL", "revoke": true],
      ],
    ],
  ]

  static func field(_ operation: Operation, _ body: JSONObject, server: AppStoreServer? = .production) -> String? {
    do throws(RequestRefusal) {
      _ = try AdvancedCommerceRequest(operation, body, server: server)
      return nil
    } catch { return error.field }
  }

  @Test("Apple's example bodies are accepted and sent unchanged", arguments: Operation.allCases)
  func taken(operation: Operation) throws {
    let body = try #require(Self.good[operation])
    let request = try AdvancedCommerceRequest(operation, body, server: .production)
    #expect(request.body == body && request.requestReferenceId == Self.reference)
    #expect(operation.endpoint.isAdvancedCommerce && operation.endpoint.method == "POST" && !operation.endpoint.isRepeatable)
  }

  @Test("each missing field that Apple requires is named", arguments: Operation.allCases)
  func missing(operation: Operation) throws {
    let needed: [Operation: [String]] = [
      .changeMetadata: [], .migrate: ["descriptors", "items", "targetProductId", "taxCode"], .changePrice: ["items"], .cancel: [],
      .revoke: ["refundReason", "refundRiskingPreference", "refundType"], .requestRefund: ["items", "refundRiskingPreference"],
    ]
    for name in ["requestInfo"] + (needed[operation] ?? []) {
      var body = try #require(Self.good[operation])
      body[name] = nil
      #expect(Self.field(operation, body) == name)
      body[name] = .null
      #expect(Self.field(operation, body) == name)
    }
    var body = try #require(Self.good[operation])
    body["sku"] = "A"
    #expect(Self.field(operation, body) == "sku")
  }

  @Test("each missing field of an item that Apple requires is named")
  func missingOfItems() throws {
    let needed: [(Operation, [String])] = [
      (.changeMetadata, ["currentSKU", "effective"]), (.migrate, ["SKU", "displayName", "description"]), (.changePrice, ["SKU", "price"]),
      (.requestRefund, ["SKU", "refundReason", "refundType", "refundAmount", "revoke"]),
    ]
    for (operation, names) in needed {
      for name in names {
        var body = try #require(Self.good[operation])
        var item = try #require(body["items"]?.arrayValue?.first?.objectValue)
        item[name] = nil
        body["items"] = .array([.object(item)])
        #expect(Self.field(operation, body) == "items[0].\(name)", "\(operation) \(name)")
      }
    }
  }

  @Test(
    "texts may have exactly Apple's maximum length",
    arguments: [("SKU", 128), ("displayName", 30), ("description", 45)])
  func lengths(name: String, maxLength: Int) throws {
    for (length, isTaken) in [(0, false), (1, true), (maxLength, true), (maxLength + 1, false)] {
      var body = try #require(Self.good[.migrate])
      var item = try #require(body["items"]?.arrayValue?.first?.objectValue)
      item[name] = .string(String(repeating: "é", count: length))
      body["items"] = .array([.object(item)])
      #expect(Self.field(.migrate, body) == (isTaken ? nil : "items[0].\(name)"), "\(name) of \(length)")
    }
  }

  @Test("prices have the decimal places that the App Store accepts for the currency")
  func prices() {
    func field(_ currency: String?, _ price: Int64) -> String? {
      var body: JSONObject = ["requestInfo": Self.info, "items": [["SKU": "A", "price": .integer(price)]]]
      body["currency"] = currency.map { .string($0) }
      return Self.field(.changePrice, body)
    }
    for (currency, price, isTaken) in [
      ("USD", 1450, true), ("USD", 1095, false), ("JPY", 310_000, true), ("JPY", 310_950, false), ("KRW", 3_300_000, true),
      ("EUR", 10, true),
      ("EUR", 1, false), ("QQQ", 1, true), (nil, 1, true), ("USD", 0, true), ("USD", -10, false),
    ] as [(String?, Int64, Bool)] {
      #expect((field(currency, price) == nil) == isTaken, "\(currency ?? "none") \(price)")
    }
    #expect(field("us$", 0) == "currency")
  }

  @Test("dependent SKUs must not form chains or repeat")
  func dependents() {
    func field(_ items: [(String, [String])]) -> String? {
      Self.field(
        .changePrice,
        [
          "requestInfo": Self.info,
          "items": .array(
            items.map { sku, others in
              ["SKU": .string(sku), "price": 10, "dependentSKUs": .array(others.map { .string($0) })]
            }),
        ])
    }
    #expect(field([("A", ["B", "C"]), ("B", [])]) == nil)
    #expect(field([("A", ["A"])]) == "items[0].dependentSKUs")
    #expect(field([("A", ["B"]), ("C", ["B"])]) == "items[1].dependentSKUs")
    #expect(field([("A", ["B"]), ("B", ["C"])]) == "items[1].dependentSKUs")
    #expect(field([("B", ["C"]), ("A", ["B"])]) == "items[0].dependentSKUs")
    #expect(field([("A", [""])]) == "items[0].dependentSKUs[0]")
    #expect(field([("A", []), ("A", [])]) == "items[1].SKU")
  }

  @Test("SKUs and lines are compared by bytes, as Apple does, and not by Unicode equivalence")
  func exactNames() throws {
    // The Angstrom sign and the letter.
    let (sign, letter): (JSONValue, JSONValue) = ("\u{212B}", "\u{C5}")
    var body = try #require(Self.good[.changePrice])
    body["items"] = [["SKU": sign, "price": 10, "dependentSKUs": [letter]], ["SKU": letter, "price": 10]]
    #expect(Self.field(.changePrice, body) == nil)
    body["items"] = [["SKU": sign, "price": 10, "dependentSKUs": [sign]]]
    #expect(Self.field(.changePrice, body) == "items[0].dependentSKUs")
    let buy = ExternalPurchaseReportTests.buy
    func line(_ id: JSONValue) -> JSONObject { ExternalPurchaseReportTests.with(buy, ["lineItemId": id]) }
    #expect(ExternalPurchaseReportTests.field(ExternalPurchaseReportTests.report([line(sign), line(letter)])) == nil)
    #expect(ExternalPurchaseReportTests.field(ExternalPurchaseReportTests.report([line(sign), line(sign)])) == "lineItems[1].lineItemId")
  }

  @Test("only a CUSTOM refund has an amount, and a decline is simulated only in the sandbox and for all items")
  func refunds() {
    func field(_ items: [JSONObject], server: AppStoreServer? = .production) -> String? {
      Self.field(
        .requestRefund, ["requestInfo": Self.info, "refundRiskingPreference": true, "items": .array(items.map { .object($0) })],
        server: server)
    }
    let full: JSONObject = ["SKU": "A", "refundReason": "LEGAL", "refundType": "FULL", "revoke": true]
    var custom = full
    custom["refundType"] = "CUSTOM"
    var (withAmount, simulated) = (full, full)
    withAmount["refundAmount"] = 10
    simulated["refundReason"] = "SIMULATE_REFUND_DECLINE"
    simulated["SKU"] = "B"
    #expect(field([full]) == nil)
    #expect(field([custom]) == "items[0].refundAmount")
    #expect(field([withAmount]) == "items[0].refundAmount")
    for (amount, expected) in [(1, nil), (0, "items[0].refundAmount"), (-1, "items[0].refundAmount")] as [(Int64, String?)] {
      custom["refundAmount"] = .integer(amount)
      #expect(field([custom]) == expected)
    }
    #expect(field([simulated]) == "items[0].refundReason")
    #expect(field([simulated], server: .sandbox) == nil)
    #expect(field([simulated], server: nil) == nil)
    #expect(field([full, simulated], server: .sandbox) == "items[1].refundReason")
  }

  @Test(
    "tax codes have Apple's format",
    arguments: [
      ("C003-00-1", true), ("S001-03050614-2", true), ("C003-00", false), ("003-00-1", false), ("C03-00-1", false), ("C003-0-1", false),
      ("C003-00-12", false), ("c003-00-1", false), ("C003--00-1", false), ("", false),
    ])
  func taxCodes(code: String, isTaken: Bool) {
    #expect((Self.field(.changeMetadata, ["requestInfo": Self.info, "taxCode": .string(code)]) == nil) == isTaken)
  }

  @Test("Apple's state of the purchase shows whether a call with a lost answer was carried out")
  func outcomes() throws {
    func request(_ operation: Operation) throws -> AdvancedCommerceRequest {
      try AdvancedCommerceRequest(operation, try #require(Self.good[operation]), server: .production)
    }
    let named: JSONObject = ["advancedCommerceInfo": ["requestReferenceId": .string(Self.reference.uppercased())]]
    for operation in Operation.allCases {
      let request = try request(operation)
      #expect(request.isDone(transactionInfo: named, renewalInfo: nil, sentAt: 0))
      #expect(request.isDone(transactionInfo: nil, renewalInfo: named, sentAt: 0))
      #expect(!request.isDone(transactionInfo: [:], renewalInfo: ["autoRenewStatus": 1], sentAt: 0))
    }
    #expect(try request(.cancel).isDone(transactionInfo: [:], renewalInfo: ["autoRenewStatus": 0], sentAt: 0))
    let sent: Int64 = 1_700_000_000_000
    #expect(try request(.revoke).isDone(transactionInfo: ["revocationDate": .integer(sent + 1)], renewalInfo: nil, sentAt: sent))
    // It was revoked long before.
    #expect(try !request(.revoke).isDone(transactionInfo: ["revocationDate": .integer(sent - 3_600_000)], renewalInfo: nil, sentAt: sent))
    func items(_ a: Int64, _ b: Int64) -> JSONObject {
      [
        "advancedCommerceInfo": [
          "items": [["SKU": "A", "price": .integer(a)], ["SKU": "B", "priceIncreaseInfo": ["price": .integer(b)]]]
        ]
      ]
    }
    #expect(try request(.changePrice).isDone(transactionInfo: nil, renewalInfo: items(12990, 0), sentAt: sent))
    #expect(try !request(.changePrice).isDone(transactionInfo: nil, renewalInfo: items(12990, 10), sentAt: sent))
    let migrated: JSONObject = ["advancedCommerceInfo": [:], "productId": "com.example.aca.generic.subscription"]
    #expect(try request(.migrate).isDone(transactionInfo: nil, renewalInfo: migrated, sentAt: sent))
    #expect(try !request(.requestRefund).isDone(transactionInfo: ["revocationDate": .integer(sent + 1)], renewalInfo: nil, sentAt: sent))
  }

  @Test("the host in Apple's documentation is used by default, or the configured one")
  func hosts() {
    let endpoint = AppStoreServerEndpoint.cancelSubscription
    #expect(endpoint.baseURL(AppStoreServer.production.defaultBaseURL, on: .production) == "https://api.storekit.itunes.apple.com")
    #expect(endpoint.baseURL(AppStoreServer.sandbox.defaultBaseURL, on: .sandbox) == "https://api.storekit-sandbox.itunes.apple.com")
    #expect(endpoint.baseURL("https://127.0.0.1/sandbox", on: .sandbox) == "https://127.0.0.1/sandbox")
    #expect(
      AppStoreServerEndpoint.setRetentionURL.baseURL("https://api.storekit.apple.com", on: .production) == "https://api.storekit.apple.com")
  }
}
