import AppleAttribution
import AttributionProtocol

extension AttributionProtocol.AttributionRecord {
  /// The record of an exchange as the contract's message, without the fields that need consent if the user has not consented; nil if there
  /// is none.
  init?(_ exchange: Exchange, _ filter: ConsentFilter) {
    guard let record = exchange.record, let shown = exchange.shownRecord(filter)?.payload else { return nil }
    func number(_ name: String) -> Int64? { shown[name]?.int64Value }
    func text(_ name: String) -> String? { shown[name]?.stringValue }
    self.init(
      attribution: record.attribution, orgId: number("orgId"), campaignId: number("campaignId"), adGroupId: number("adGroupId"),
      keywordId: number("keywordId"), adId: number("adId"), creativeSetId: number("creativeSetId"),
      conversionType: text("conversionType"), claimType: text("claimType"), clickDate: text("clickDate"),
      impressionDate: text("impressionDate"), countryOrRegion: text("countryOrRegion"), supplyPlacement: text("supplyPlacement"),
      raw: exchange.shownRawRecord(filter), unusable: record.unusable)
  }
}

/// The fields that the responses of `ExchangeToken` and `GetExchange` share.
private struct ExchangeFields {
  var record: AttributionProtocol.AttributionRecord?
  var detail: String?
  var attMismatch: Bool?
  var test: Bool?
  var attempts: Int32?
  var reason: String?

  init(_ exchange: Exchange, _ filter: ConsentFilter) {
    attempts = Int32(clamping: exchange.attempts.count)
    if let record = exchange.record {
      test = record.isTest ? true : nil
      // A test record is not returned, so that nobody counts it as an attribution.
      if record.isTest {
        reason = AdServicesOutcome.test.rawValue
      } else {
        self.record = AttributionProtocol.AttributionRecord(exchange, filter)
        if record.attribution { detail = record.detail.rawValue }
        attMismatch = exchange.isATTMismatch ? true : nil
      }
    } else {
      reason = exchange.outcome?.rawValue
    }
  }
}

extension ExchangeTokenResponse {
  /// - Parameters:
  ///   - exchange: nil if Apple was not called yet.
  ///   - filter: removes the fields that need consent.
  init(id: String, _ exchange: Exchange?, _ filter: ConsentFilter) {
    let fields = exchange.map { ExchangeFields($0, filter) }
    self.init(
      exchangeId: id, state: (exchange?.state ?? .pending).rawValue, record: fields?.record, detail: fields?.detail,
      attMismatch: fields?.attMismatch, test: fields?.test, attempts: fields?.attempts, reason: fields?.reason,
      bundleId: exchange?.claims.bundleId, installId: exchange?.claims.installId, conflicting: exchange?.claims.conflicting ?? [])
  }
}

extension GetExchangeResponse {
  /// - Parameters:
  ///   - exchange: nil if Apple was not called yet.
  ///   - filter: removes the fields that need consent.
  init(id: String, _ exchange: Exchange?, _ filter: ConsentFilter) {
    let fields = exchange.map { ExchangeFields($0, filter) }
    self.init(
      exchangeId: id, state: (exchange?.state ?? .pending).rawValue, record: fields?.record, detail: fields?.detail,
      attMismatch: fields?.attMismatch, test: fields?.test, attempts: fields?.attempts, reason: fields?.reason,
      bundleId: exchange?.claims.bundleId, installId: exchange?.claims.installId, conflicting: exchange?.claims.conflicting ?? [])
  }
}
