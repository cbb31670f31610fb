public import WireJSON

/// A report about one external purchase token (External Purchase Server API: ExternalPurchaseReport). Apple's rules are checked, except
/// those that depend on earlier reports. ``ExternalPurchaseLineItem`` checks the lines.
public struct ExternalPurchaseReport: Sendable, Hashable {
  /// The longest identifier or exchange rate, characters.
  static let maxTextLength = 128
  /// How far a line's `creationDate` may be after our clock's time, milliseconds, because our clock may be behind.
  static let clockTolerance: Int64 = 300_000
  /// The currencies in which Apple accepts amounts (reportingCurrency).
  static let reportingCurrencies: Set<String> = [
    "CLP", "EUR", "QAR", "COP", "VND", "EGP", "THB", "HKD", "NOK", "BRL", "GBP", "AUD", "SEK", "INR", "BGN", "ZAR", "KZT", "NGN", "TWD",
    "MXN", "CHF", "PEN", "DKK", "AED", "ILS", "KRW", "PHP", "TZS", "PKR", "HUF", "IDR", "CNY", "MYR", "RUB", "RON", "SGD", "TRY", "CZK",
    "SAR", "USD", "NZD", "PLN", "JPY", "CAD",
  ]

  /// The report as it is sent to Apple.
  public let body: JSONObject
  /// The report's identifier, a UUID in lower case.
  public let requestIdentifier: String
  /// The id of the token that the report is about.
  public let externalPurchaseId: String
  /// `LINE_ITEM`, `NO_LINE_ITEM`, `UNRECOGNIZED_TOKEN` or `DUPLICATE_TOKEN`.
  public let status: String
  /// The server that made the token.
  public var server: AppStoreServer { ExternalPurchaseToken.server(ofId: externalPurchaseId) }

  /// Checks a report. Throws ``RequestRefusal`` with the field.
  ///
  /// - Parameter now: milliseconds since 1970.
  public init(_ body: JSONObject, now: Int64) throws(RequestRefusal) {
    let fields = RequestFields(body)
    try fields.allow(["requestIdentifier", "externalPurchaseId", "status", "lineItems"])
    requestIdentifier = try fields.requiredUUID("requestIdentifier").lowercased()
    externalPurchaseId = try fields.requiredText("externalPurchaseId", maxLength: Self.maxTextLength)
    status = try fields.requiredChoice("status", ["LINE_ITEM", "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"])
    let items = try fields.children("lineItems")
    if status == "LINE_ITEM" {
      guard let items else { throw fields.refusal("lineItems", "is missing: the status is LINE_ITEM") }
      try ExternalPurchaseLineItem.check(items, now: now)
    } else if items != nil {
      throw fields.refusal("lineItems", "must be absent: only the status LINE_ITEM has lines")
    }
    self.body = body
  }

  /// True if two reports with the same identifier are the same report: they have the same token, status and lines. Only the identifiers of
  /// the lines are compared, because Apple may write amounts and optional members in another way than we did.
  public static func isSame(_ one: JSONObject, _ other: JSONObject) -> Bool {
    func lines(_ report: JSONObject) -> [String] {
      (report["lineItems"]?.arrayValue ?? []).compactMap { $0["lineItemId"]?.stringValue }.sorted()
    }
    return one["externalPurchaseId"] == other["externalPurchaseId"] && one["status"] == other["status"] && lines(one) == lines(other)
  }

  /// The identifier of a report from a caller, a UUID, in lower case.
  public static func identifier(_ text: String?) throws(RequestRefusal) -> String {
    try RetentionParameterRules.identifier(text, "requestIdentifier")
  }
}

/// One line of a report (OneTimeBuyLineItem, SubscriptionBuyLineItem, RefundLineItem).
struct ExternalPurchaseLineItem {
  /// The fields of every line.
  private static let common: Set<String> = [
    "lineItemId", "creationDate", "restatement", "erroneouslySubmitted", "pricingCurrency", "reportingCurrency", "exchangeRate",
    "amountTaxExclusive", "amountTaxInclusive", "netAmountTaxExclusive", "taxAmount", "taxCountry", "eventType",
  ]
  /// The further fields of a purchase.
  private static let bought: Set<String> = ["productIdentifier", "quantity", "productType"]
  /// The further fields of a subscription's purchase.
  private static let subscription: Set<String> = [
    "referenceLineItemId", "subscriptionEvent", "subscriptionStartDate", "subscriptionEndDate", "subscriptionDaysOfPaidService",
  ]

  private let fields: RequestFields
  private let id: String
  /// The `lineItemId` of the line that this one refers to. It may be a line of an earlier report.
  private let reference: String?
  private let creationDate: Int64
  private let isRefund: Bool
  private let isErroneous: Bool

  /// Checks each line, and its references to other lines of the report.
  static func check(_ list: [RequestFields], now: Int64) throws(RequestRefusal) {
    var items: [ExternalPurchaseLineItem] = []
    for fields in list { items.append(try ExternalPurchaseLineItem(fields, now: now)) }
    var known: [ExactText: ExternalPurchaseLineItem] = [:]
    for item in items {
      guard known.updateValue(item, forKey: ExactText(item.id)) == nil else {
        throw item.fields.refusal("lineItemId", "must differ from that of every other line")
      }
    }
    for item in items {
      if let reference = item.reference, let other = known[ExactText(reference)] { try item.check(against: other) }
    }
  }

  private init(_ fields: RequestFields, now: Int64) throws(RequestRefusal) {
    self.fields = fields
    id = try fields.requiredText("lineItemId", maxLength: ExternalPurchaseReport.maxTextLength)
    creationDate = try fields.requiredInteger("creationDate", min: 1)
    guard creationDate <= now + ExternalPurchaseReport.clockTolerance else {
      throw fields.refusal("creationDate", "must not be in the future")
    }
    isErroneous = try fields.bool("erroneouslySubmitted") ?? false
    if isErroneous, try fields.bool("restatement") != true {
      throw fields.refusal("restatement", "must be true if erroneouslySubmitted is true")
    }
    _ = try fields.bool("restatement")
    reference = try fields.text("referenceLineItemId", maxLength: ExternalPurchaseReport.maxTextLength)
    if reference?.isExactly(id) == true { throw fields.refusal("referenceLineItemId", "must not be the line's own lineItemId") }
    isRefund = try fields.requiredChoice("eventType", ["BUY", "REFUND"]) == "REFUND"
    try Self.checkAmounts(fields)
    try Self.checkCurrencies(fields)
    if isRefund {
      try fields.allow(Self.common.union(["referenceLineItemId"]))
      guard reference != nil else { throw fields.refusal("referenceLineItemId", "is missing: it names the purchase that is refunded") }
    } else {
      try Self.checkPurchase(fields)
    }
  }

  private static func checkAmounts(_ fields: RequestFields) throws(RequestRefusal) {
    let exclusive = try fields.requiredInteger("amountTaxExclusive", min: 0)
    let inclusive = try fields.requiredInteger("amountTaxInclusive", min: 0)
    let tax = try fields.requiredInteger("taxAmount", min: 0)
    _ = try fields.requiredInteger("netAmountTaxExclusive", min: 0)
    let (sum, isTooMuch) = exclusive.addingReportingOverflow(tax)
    guard !isTooMuch, sum == inclusive else {
      throw fields.refusal("amountTaxInclusive", "must be the sum of amountTaxExclusive and taxAmount")
    }
    guard try fields.code("taxCountry", "an ISO 3166-1 alpha-3 code, such as ESP") != nil else {
      throw fields.refusal("taxCountry", "is missing")
    }
  }

  private static func checkCurrencies(_ fields: RequestFields) throws(RequestRefusal) {
    guard let pricing = try fields.currency("pricingCurrency") else { throw fields.refusal("pricingCurrency", "is missing") }
    guard let reporting = try fields.currency("reportingCurrency") else { throw fields.refusal("reportingCurrency", "is missing") }
    guard ExternalPurchaseReport.reportingCurrencies.contains(reporting) else {
      throw fields.refusal("reportingCurrency", "is not a currency that Apple accepts in reports")
    }
    if ExternalPurchaseReport.reportingCurrencies.contains(pricing) {
      guard reporting == pricing else {
        throw fields.refusal("reportingCurrency", "must be the pricingCurrency, because Apple accepts reports in it")
      }
    } else {
      guard ["EUR", "USD"].contains(reporting) else {
        throw fields.refusal("reportingCurrency", "must be EUR or USD, because Apple accepts no reports in the pricingCurrency")
      }
    }
    guard reporting != pricing else {
      guard fields.object["exchangeRate"] == nil else {
        throw fields.refusal("exchangeRate", "must be absent if the two currencies are the same")
      }
      return
    }
    guard let rate = fields.object["exchangeRate"] else { throw fields.refusal("exchangeRate", "is missing: the currencies differ") }
    guard let number = rate.numberValue, number.double > 0, number.text.utf8.count <= ExternalPurchaseReport.maxTextLength,
      number.text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
    else { throw fields.refusal("exchangeRate", "must be a number above 0, written without an exponent") }
  }

  private static func checkPurchase(_ fields: RequestFields) throws(RequestRefusal) {
    _ = try fields.requiredText("productIdentifier", maxLength: ExternalPurchaseReport.maxTextLength)
    _ = try fields.requiredInteger("quantity", min: 1)
    guard try fields.requiredChoice("productType", ["ONE_TIME_BUY", "SUBSCRIPTION"]) == "SUBSCRIPTION" else {
      return try fields.allow(common.union(bought))
    }
    try fields.allow(common.union(bought).union(subscription))
    let event = try fields.requiredChoice(
      "subscriptionEvent", ["SUBSCRIPTION_START", "RENEWAL", "SUBSCRIPTION_CHANGE", "SUBSCRIPTION_PAYMENT"])
    let start = try fields.requiredInteger("subscriptionStartDate", min: 1)
    let end = try fields.requiredInteger("subscriptionEndDate", min: 1)
    guard start <= end else { throw fields.refusal("subscriptionStartDate", "must not be after subscriptionEndDate") }
    let days = try fields.requiredInteger("subscriptionDaysOfPaidService", min: 0)
    guard days <= Int64(Int32.max) else { throw fields.refusal("subscriptionDaysOfPaidService", "must be at most \(Int32.max)") }
    if event == "SUBSCRIPTION_START", days != 0 {
      throw fields.refusal("subscriptionDaysOfPaidService", "must be 0 at the start of a subscription")
    }
    if event == "SUBSCRIPTION_PAYMENT", fields.object["amountTaxInclusive"]?.int64Value == 0 {
      throw fields.refusal("amountTaxInclusive", "must be above 0 for a payment")
    }
  }

  /// Checks this line against the line of the same report that it refers to.
  private func check(against other: ExternalPurchaseLineItem) throws(RequestRefusal) {
    guard !other.isRefund else { throw fields.refusal("referenceLineItemId", "must name a purchase") }
    guard other.creationDate <= creationDate else {
      throw fields.refusal("creationDate", "must not be before the creationDate of the line in referenceLineItemId")
    }
    guard isErroneous || !other.isErroneous else {
      throw fields.refusal("referenceLineItemId", "must not name a line whose erroneouslySubmitted is true")
    }
    if isRefund {
      for name in ["pricingCurrency", "reportingCurrency", "exchangeRate", "taxCountry"]
      where fields.object[name] != other.fields.object[name] {
        throw fields.refusal(name, "must be the same as in the purchase that is refunded")
      }
    } else if other.fields.object["subscriptionEvent"]?.stringValue != "SUBSCRIPTION_START" {
      throw fields.refusal("referenceLineItemId", "must name a line whose subscriptionEvent is SUBSCRIPTION_START")
    }
  }
}
