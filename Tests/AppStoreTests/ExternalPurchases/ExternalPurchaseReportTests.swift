import Testing
import WireJSON

@testable import AppStore

@Suite("Reports of external purchases")
struct ExternalPurchaseReportTests {
  static let now: Int64 = 1_800_000_000_000
  static let buy: JSONObject = [
    "lineItemId": "a", "creationDate": 1_706_047_472_367, "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "p",
    "amountTaxInclusive": 10000, "amountTaxExclusive": 8000, "taxAmount": 2000, "netAmountTaxExclusive": 8000, "reportingCurrency": "EUR",
    "pricingCurrency": "EUR", "taxCountry": "ESP", "quantity": 6,
  ]
  static var start: JSONObject {
    with(
      buy,
      [
        "lineItemId": "s", "productType": "SUBSCRIPTION", "subscriptionEvent": "SUBSCRIPTION_START",
        "subscriptionStartDate": 1_706_047_488_039,
        "subscriptionEndDate": 1_708_639_488_039, "subscriptionDaysOfPaidService": 0,
      ])
  }
  static var refund: JSONObject {
    with(
      buy,
      [
        "lineItemId": "r", "eventType": "REFUND", "productType": .null, "productIdentifier": .null, "quantity": .null,
        "referenceLineItemId": "a",
        "creationDate": 1_706_047_491_127,
      ])
  }

  static func with(_ object: JSONObject, _ changes: JSONObject) -> JSONObject {
    var changed = object
    for member in changes.members { changed[member.key] = member.value.isNull ? Optional.none : .some(member.value) }
    return changed
  }

  static func report(_ lines: [JSONObject]?, status: String = "LINE_ITEM") -> JSONObject {
    var body: JSONObject = [
      "requestIdentifier": "1CDC286E-7389-417c-b58f-7a7d196e5bbe", "externalPurchaseId": "2924c319-5205-4188-831a-1ca2c00326b4",
      "status": .string(status),
    ]
    body["lineItems"] = lines.map { .array($0.map { .object($0) }) }
    return body
  }

  static func field(_ body: JSONObject) -> String? {
    do throws(RequestRefusal) {
      _ = try ExternalPurchaseReport(body, now: now)
      return nil
    } catch { return error.field }
  }

  static func field(of line: JSONObject, _ changes: JSONObject) -> String? {
    field(report([with(line, changes)])).map { $0.replacing("lineItems[0].", with: "") }
  }

  @Test("the example reports of Apple's pages are accepted")
  func taken() throws {
    let renewal = Self.with(
      Self.start, ["lineItemId": "t", "subscriptionEvent": "RENEWAL", "referenceLineItemId": "s", "subscriptionDaysOfPaidService": 30])
    for body in [
      Self.report([Self.buy]), Self.report([Self.start, renewal]), Self.report([Self.buy, Self.refund]), Self.report([Self.refund]),
      Self.report(nil, status: "NO_LINE_ITEM"), Self.report(nil, status: "UNRECOGNIZED_TOKEN"), Self.report(nil, status: "DUPLICATE_TOKEN"),
    ] {
      let report = try ExternalPurchaseReport(body, now: Self.now)
      #expect(report.body == body && report.requestIdentifier == "1cdc286e-7389-417c-b58f-7a7d196e5bbe" && report.server == .production)
    }
    var sandbox = Self.report(nil, status: "NO_LINE_ITEM")
    sandbox["externalPurchaseId"] = "SANDBOX_2924c319"
    #expect(try ExternalPurchaseReport(sandbox, now: Self.now).server == .sandbox)
  }

  @Test("line items are required or forbidden by the report's status")
  func statuses() {
    #expect(Self.field(Self.report(nil)) == "lineItems")
    #expect(Self.field(Self.report([])) == "lineItems")
    for status in ["NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"] {
      #expect(Self.field(Self.report([Self.buy], status: status)) == "lineItems")
    }
    #expect(Self.field(Self.report([Self.buy], status: "LINES")) == "status")
  }

  @Test("each missing field that Apple requires is named")
  func missing() {
    let common = [
      "lineItemId", "creationDate", "eventType", "amountTaxInclusive", "amountTaxExclusive", "taxAmount", "netAmountTaxExclusive",
      "reportingCurrency", "pricingCurrency", "taxCountry",
    ]
    for name in common + ["productType", "productIdentifier", "quantity"] { #expect(Self.field(of: Self.buy, [name: .null]) == name) }
    for name in ["subscriptionEvent", "subscriptionStartDate", "subscriptionEndDate", "subscriptionDaysOfPaidService"] {
      #expect(Self.field(of: Self.start, [name: .null]) == name)
      #expect(Self.field(of: Self.buy, [name: Self.start[name] ?? .null]) == name)
    }
    for name in common + ["referenceLineItemId"] { #expect(Self.field(of: Self.refund, [name: .null]) == name) }
    for name in ["quantity", "productType", "productIdentifier"] {
      #expect(Self.field(of: Self.refund, [name: Self.buy[name] ?? .null]) == name)
    }
  }

  @Test("amounts are non-negative whole numbers that add up, up to their limits")
  func amounts() {
    #expect(
      Self.field(of: Self.buy, ["amountTaxInclusive": 0, "amountTaxExclusive": 0, "taxAmount": 0, "netAmountTaxExclusive": 0]) == nil)
    for name in ["amountTaxInclusive", "amountTaxExclusive", "taxAmount", "netAmountTaxExclusive"] {
      #expect(Self.field(of: Self.buy, [name: -1]) == name)
      #expect(Self.field(of: Self.buy, [name: "10"]) == name)
    }
    #expect(Self.field(of: Self.buy, ["amountTaxInclusive": 9999]) == "amountTaxInclusive")
    #expect(Self.field(of: Self.buy, ["amountTaxExclusive": .integer(Int64.max), "taxAmount": 1]) == "amountTaxInclusive")
    #expect(Self.field(of: Self.buy, ["quantity": 1]) == nil)
    #expect(Self.field(of: Self.buy, ["quantity": 0]) == "quantity")
  }

  @Test("a currency that Apple accepts is reported as it is, and another one in EUR or USD with its rate")
  func currencies() {
    #expect(Self.field(of: Self.buy, ["pricingCurrency": "USD"]) == "reportingCurrency")
    #expect(Self.field(of: Self.buy, ["pricingCurrency": "ISK"]) == "exchangeRate")
    #expect(Self.field(of: Self.buy, ["pricingCurrency": "ISK", "reportingCurrency": "GBP"]) == "reportingCurrency")
    #expect(Self.field(of: Self.buy, ["pricingCurrency": "ISK", "reportingCurrency": "ISK"]) == "reportingCurrency")
    #expect(Self.field(of: Self.buy, ["exchangeRate": 1]) == "exchangeRate")
    for (text, isTaken) in [("0.0067", true), ("1", true), ("0", false), ("-1", false), ("1e-3", false), ("\"1\"", false)] {
      guard let rate = try? JSONValue(parsing: text) else { continue }
      #expect((Self.field(of: Self.buy, ["pricingCurrency": "ISK", "exchangeRate": rate]) == nil) == isTaken, "\(text)")
    }
    #expect(ExternalPurchaseReport.reportingCurrencies.count == 44)
  }

  @Test("dates are not in the future, and a subscription's dates are in order")
  func times() {
    let edge = Self.now + ExternalPurchaseReport.clockTolerance
    #expect(Self.field(of: Self.buy, ["creationDate": .integer(edge)]) == nil)
    #expect(Self.field(of: Self.buy, ["creationDate": .integer(edge + 1)]) == "creationDate")
    #expect(Self.field(of: Self.start, ["subscriptionStartDate": 1_708_639_488_039]) == nil)
    #expect(Self.field(of: Self.start, ["subscriptionStartDate": 1_708_639_488_040]) == "subscriptionStartDate")
  }

  @Test("a subscription starts with no paid days, and a payment has an amount")
  func subscriptions() {
    #expect(Self.field(of: Self.start, ["subscriptionDaysOfPaidService": 1]) == "subscriptionDaysOfPaidService")
    let nothing: JSONObject = ["amountTaxInclusive": 0, "amountTaxExclusive": 0, "taxAmount": 0]
    #expect(Self.field(of: Self.start, nothing) == nil)
    #expect(Self.field(of: Self.with(Self.start, nothing), ["subscriptionEvent": "SUBSCRIPTION_PAYMENT"]) == "amountTaxInclusive")
    #expect(Self.field(of: Self.start, ["subscriptionEvent": "PAUSE"]) == "subscriptionEvent")
  }

  @Test("line items match those that they refer to")
  func references() {
    func field(_ lines: [JSONObject]) -> String? { Self.field(Self.report(lines)) }
    #expect(field([Self.buy, Self.buy]) == "lineItems[1].lineItemId")
    #expect(field([Self.with(Self.refund, ["referenceLineItemId": "r"])]) == "lineItems[0].referenceLineItemId")
    for (name, value) in [("taxCountry", "FRA"), ("reportingCurrency", "USD")] as [(String, JSONValue)] {
      var changes: JSONObject = [name: value]
      if name == "reportingCurrency" { changes["pricingCurrency"] = value }
      #expect(
        field([Self.buy, Self.with(Self.refund, changes)])
          == (name == "taxCountry" ? "lineItems[1].taxCountry" : "lineItems[1].pricingCurrency"))
    }
    #expect(field([Self.buy, Self.with(Self.refund, ["creationDate": 1])]) == "lineItems[1].creationDate")
    #expect(
      field([Self.refund, Self.with(Self.refund, ["lineItemId": "q", "referenceLineItemId": "r"])]) == "lineItems[1].referenceLineItemId")
    let withdrawn = Self.with(Self.buy, ["restatement": true, "erroneouslySubmitted": true])
    #expect(field([withdrawn]) == nil)
    #expect(field([Self.with(Self.buy, ["erroneouslySubmitted": true])]) == "lineItems[0].restatement")
    #expect(field([withdrawn, Self.refund]) == "lineItems[1].referenceLineItemId")
    let renewal = Self.with(Self.start, ["lineItemId": "t", "subscriptionEvent": "RENEWAL", "referenceLineItemId": "a"])
    #expect(field([Self.buy, renewal]) == "lineItems[1].referenceLineItemId")
  }

  @Test("texts have at most Apple's 128 characters")
  func lengths() {
    for name in ["lineItemId", "productIdentifier"] {
      #expect(Self.field(of: Self.buy, [name: .string(String(repeating: "x", count: 128))]) == nil)
      #expect(Self.field(of: Self.buy, [name: .string(String(repeating: "x", count: 129))]) == name)
    }
  }

  @Test("a change of one value that breaks a sum or a type is refused")
  func mutations() {
    var generator = SystemRandomNumberGenerator()
    let fraction = (try? JSONValue(parsing: "1.5")) ?? .null
    let values: [JSONValue] = [.null, "", "x", -1, 0, 1, fraction, true, [], [:], .integer(Int64.max)]
    for _ in 0..<2000 {
      let base = [Self.buy, Self.start, Self.refund].randomElement(using: &generator) ?? Self.buy
      guard let name = base.keys.randomElement(using: &generator), let value = values.randomElement(using: &generator) else { continue }
      guard let field = Self.field(of: base, [name: value]) else {
        // The amounts of an accepted line still add up.
        let line = Self.with(base, [name: value])
        #expect(
          line["amountTaxExclusive"]?.int64Value.map { $0 + (line["taxAmount"]?.int64Value ?? -1) }
            == line["amountTaxInclusive"]?.int64Value)
        continue
      }
      #expect(!field.isEmpty)
    }
  }
}
