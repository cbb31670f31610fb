import WireJSON

/// Apple's record for a token (AdServices: Attribution payload). It names the ad that led to the installation, or says that there was none.
///
/// All fields that Apple documents have a property here; unknown fields stay in ``raw``. Ids are 64-bit integers, so no digit is lost.
public struct AttributionRecord: Sendable, Hashable {
  /// What the user did after the ad: a download, a redownload or a pre-order.
  public enum ConversionType: Sendable, Hashable {
    case download, redownload, preOrder
    /// An unknown value, unchanged.
    case other(String)

    /// Parses a value, ignoring case. Older spellings such as `newdownloads` are accepted.
    public init(_ text: String) {
      switch text.lowercased() {
      case "download", "downloads", "newdownload", "newdownloads": self = .download
      case "redownload", "redownloads": self = .redownload
      case "preorder", "preorders", "pre-order": self = .preOrder
      default: self = .other(text)
      }
    }

    /// The value in Apple's current spelling.
    public var text: String {
      switch self {
      case .download: "Download"
      case .redownload: "Redownload"
      case .preOrder: "PreOrder"
      case .other(let text): text
      }
    }
  }

  /// The user's interaction with the ad: a tap or a view.
  public enum ClaimType: Sendable, Hashable {
    case click, impression
    /// An unknown value, unchanged.
    case other(String)

    /// Parses a value, ignoring case.
    public init(_ text: String) {
      switch text.lowercased() {
      case "click": self = .click
      case "impression": self = .impression
      default: self = .other(text)
      }
    }

    /// The value in Apple's spelling.
    public var text: String {
      switch self {
      case .click: "Click"
      case .impression: "Impression"
      case .other(let text): text
      }
    }
  }

  /// The level of detail. Only a detailed record contains times. Apple returns one only if the user allowed the app to track.
  public enum Detail: String, Sendable, Hashable { case standard, detailed }

  /// True if an ad led to the installation.
  public let attribution: Bool
  /// The Apple Ads account that owns the campaign.
  public let orgId: Int64?
  public let campaignId: Int64?
  public let adGroupId: Int64?
  /// Absent with Search Match and for placements other than search results.
  public let keywordId: Int64?
  /// Only from devices with iOS 15.2 and later.
  public let adId: Int64?
  /// Only from devices before iOS 15.2.
  public let creativeSetId: Int64?
  public let conversionType: ConversionType?
  /// Absent in records from before November 2024.
  public let claimType: ClaimType?
  /// The time of the tap to the minute, such as `2024-10-08T17:17Z`; only in detailed records. It is personal data, which may be passed on
  /// only with the user's consent (``ConsentFilter``).
  public let clickDate: String?
  /// The time of the view, in the same format and with the same rules as ``clickDate``.
  public let impressionDate: String?
  /// ISO 3166-1 alpha-2.
  public let countryOrRegion: String?
  /// The placement of the ad: `APPSTORE_SEARCH_RESULTS`, `APPSTORE_SEARCH_TAB`, `APPSTORE_TODAY_TAB`, `APPSTORE_PRODUCT_PAGES` or a newer
  /// value. Absent in records from before January 2026.
  public let supplyPlacement: String?
  /// Apple's record, unchanged, including unknown fields.
  public let raw: JSONObject

  /// Parses the body of a response with the status 200. Throws ``FieldError`` if it is not a JSON object, if `attribution` is missing or
  /// not a Boolean, or if a field has a wrong type.
  public init(parsing body: [UInt8]) throws(FieldError) {
    let value: JSONValue
    do { value = try JSONValue(parsing: body) } catch { throw FieldError(field: error.path, reason: error.reason) }
    guard case .object(let object) = value else { throw FieldError(field: "", reason: "must be an object") }
    try self.init(object)
  }

  /// Reads a JSON object, such as a stored ``raw``.
  public init(_ object: JSONObject) throws(FieldError) {
    guard let attribution = object["attribution"]?.boolValue else {
      throw FieldError(field: "attribution", reason: "must be true or false")
    }
    self.attribution = attribution
    orgId = try Self.id("orgId", in: object)
    campaignId = try Self.id("campaignId", in: object)
    adGroupId = try Self.id("adGroupId", in: object)
    keywordId = try Self.id("keywordId", in: object)
    adId = try Self.id("adId", in: object)
    creativeSetId = try Self.id("creativeSetId", in: object)
    conversionType = try Self.text("conversionType", in: object).map { ConversionType($0) }
    claimType = try Self.text("claimType", in: object).map { ClaimType($0) }
    clickDate = try Self.text("clickDate", in: object)
    impressionDate = try Self.text("impressionDate", in: object)
    countryOrRegion = try Self.text("countryOrRegion", in: object)
    supplyPlacement = try Self.text("supplyPlacement", in: object)
    raw = object
  }

  /// The level of detail. It is decided by the times in the record, and not by the consent that is stored for the install.
  public var detail: Detail { clickDate != nil || impressionDate != nil ? .detailed : .standard }

  /// True for the test record of development-signed builds: organization, campaign and ad group are all 1234567890.
  public var isTest: Bool {
    attribution && [orgId, campaignId, adGroupId].allSatisfy { $0 == Self.placeholderId }
  }

  /// The outcome of the token's exchange.
  public var outcome: AdServicesOutcome { isTest ? .test : attribution ? .attributed : .organic }

  /// The documented fields that are present, under Apple's names and in Apple's current spelling.
  public var normalized: JSONObject {
    var object: JSONObject = ["attribution": .bool(attribution)]
    for (name, id) in [
      ("orgId", orgId), ("campaignId", campaignId), ("adGroupId", adGroupId), ("keywordId", keywordId), ("adId", adId),
      ("creativeSetId", creativeSetId),
    ] {
      if let id { object[name] = .integer(id) }
    }
    for (name, text) in [
      ("conversionType", conversionType?.text), ("claimType", claimType?.text), ("clickDate", clickDate),
      ("impressionDate", impressionDate), ("countryOrRegion", countryOrRegion), ("supplyPlacement", supplyPlacement),
    ] {
      if let text { object[name] = .string(text) }
    }
    return object
  }

  /// The id of organization, campaign and ad group in Apple's test record.
  private static let placeholderId: Int64 = 1_234_567_890

  /// An id, as a number or as its decimal text; nil if it is absent or `null`.
  private static func id(_ name: String, in object: JSONObject) throws(FieldError) -> Int64? {
    switch object[name] {
    case nil, .null: return nil
    case .number(let number):
      if let value = number.int64 { return value }
    case .string(let text):
      if let value = Int64(text), String(value) == text { return value }
    default: break
    }
    throw FieldError(field: name, reason: "must be a whole number with at most 64 bits")
  }

  /// A text; nil if it is absent or `null`.
  private static func text(_ name: String, in object: JSONObject) throws(FieldError) -> String? {
    switch object[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw FieldError(field: name, reason: "must be a string")
    }
  }
}
