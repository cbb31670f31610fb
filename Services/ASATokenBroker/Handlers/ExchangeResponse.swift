import AppleAttribution
import AttributionProtocol

extension AttributionProtocol.AttributionRecord {
  /// The record without fields that need consent.
  init?(_ exchange: Exchange) {
    guard let record = exchange.record, let shown = exchange.shownRecord?.payload else { return nil }
    self.init(
      attribution: record.attribution, orgId: record.orgId, campaignId: record.campaignId, adGroupId: record.adGroupId,
      keywordId: record.keywordId, adId: record.adId, creativeSetId: record.creativeSetId,
      conversionType: record.conversionType?.text, claimType: record.claimType?.text,
      clickDate: shown["clickDate"]?.stringValue, impressionDate: shown["impressionDate"]?.stringValue,
      countryOrRegion: record.countryOrRegion, supplyPlacement: record.supplyPlacement, raw: exchange.shownRawRecord)
  }
}

/// The fields that the responses of both methods share.
private struct ExchangeFields {
  var record: AttributionProtocol.AttributionRecord?
  var detail: String?
  var attMismatch: Bool?
  var test: Bool?
  var attempts: Int32?
  var reason: String?

  init(_ exchange: Exchange) {
    attempts = Int32(clamping: exchange.attempts.count)
    if let record = exchange.record {
      test = record.isTest ? true : nil
      // A test record is not returned, so that nobody counts it.
      if record.isTest {
        reason = AdServicesOutcome.test.rawValue
      } else {
        self.record = AttributionProtocol.AttributionRecord(exchange)
        if record.attribution { detail = record.detail.rawValue }
        attMismatch = exchange.isATTMismatch ? true : nil
      }
    } else {
      reason = exchange.outcome?.rawValue
    }
  }
}

extension ExchangeTokenResponse {
  /// - Parameter exchange: nil before it has begun.
  init(id: String, _ exchange: Exchange?) {
    let fields = exchange.map { ExchangeFields($0) }
    self.init(
      exchangeId: id, state: (exchange?.state ?? .pending).rawValue, record: fields?.record, detail: fields?.detail,
      attMismatch: fields?.attMismatch, test: fields?.test, attempts: fields?.attempts, reason: fields?.reason,
      bundleId: exchange?.bundleId, installId: exchange?.installId)
  }
}

extension GetExchangeResponse {
  /// - Parameter exchange: nil before it has begun.
  init(id: String, _ exchange: Exchange?) {
    let fields = exchange.map { ExchangeFields($0) }
    self.init(
      exchangeId: id, state: (exchange?.state ?? .pending).rawValue, record: fields?.record, detail: fields?.detail,
      attMismatch: fields?.attMismatch, test: fields?.test, attempts: fields?.attempts, reason: fields?.reason,
      bundleId: exchange?.bundleId, installId: exchange?.installId)
  }
}
