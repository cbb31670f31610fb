import WireJSON

/// Apple's answer for a token: the ad that led to the installation, or that there was none (AdServices: Attribution
/// payload).
///
/// All of Apple's fields are typed; unknown ones stay in ``raw``. Ids have 64 bits and keep all digits.
public struct AttributionRecord: Sendable, Hashable {
  /// The user's action, by Apple's current names. Older spellings are converted.
  public enum ConversionType: Sendable, Hashable {
    case download, redownload, preOrder
    /// An unknown value, unchanged.
    case other(String)

    /// Parses a value ignoring case, including older spellings (`newdownloads`, `redownloads`, `preorder`).
    public init(_ text: String) {
      switch text.lowercased() {
      case "download", "downloads", "newdownload", "newdownloads": self = .download
      case "redownload", "redownloads": self = .redownload
      case "preorder", "preorders", "pre-order": self = .preOrder
      default: self = .other(text)
      }
    }

    /// The normalized value.
    public var text: String {
      switch self {
      case .download: "Download"
      case .redownload: "Redownload"
      case .preOrder: "PreOrder"
      case .other(let text): text
      }
    }
  }

  /// The attributed interaction: a tap, or since March 2025 a view.
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

    /// The normalized value.
    public var text: String {
      switch self {
      case .click: "Click"
      case .impression: "Impression"
      case .other(let text): text
      }
    }
  }

  /// The level of detail. Times are included only if the user allowed tracking.
  public enum Detail: String, Sendable, Hashable { case standard, detailed }

  /// True if an ad led to the installation.
  public let attribution: Bool
  /// The account that owns the campaign.
  public let orgId: Int64?
  public let campaignId: Int64?
  public let adGroupId: Int64?
  /// Absent with Search Match and placements other than search.
  public let keywordId: Int64?
  /// iOS 15.2 and later.
  public let adId: Int64?
  /// Only devices before iOS 15.2.
  public let creativeSetId: Int64?
  public let conversionType: ConversionType?
  /// Since November 2024.
  public let claimType: ClaimType?
  /// `2024-10-08T17:17Z`, to the minute, only in detailed records. It is personal data that the user's consent allowed.
  public let clickDate: String?
  /// As ``clickDate``, for a view.
  public let impressionDate: String?
  /// Two letters.
  public let countryOrRegion: String?
  /// Since January 2026: `APPSTORE_SEARCH_RESULTS`, `APPSTORE_SEARCH_TAB`, `APPSTORE_TODAY_TAB`, `APPSTORE_PRODUCT_PAGES`, or a later
  /// value.
  public let supplyPlacement: String?
  /// The record unchanged, including unknown fields.
  public let raw: JSONObject

  /// Parses the body of a 200. Throws ``FieldError`` if it is not a record: not a JSON object, `attribution` missing or not a Boolean, a
  /// field of a wrong type.
  public init(parsing body: [UInt8]) throws(FieldError) {
    let value: JSONValue
    do { value = try JSONValue(parsing: body) } catch { throw FieldError(field: error.path, reason: error.reason) }
    guard case .object(let object) = value else { throw FieldError(field: "", reason: "must be an object") }
    try self.init(object)
  }

  /// Reads a parsed object, such as a stored ``raw``.
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

  /// The level of detail, by the record's times and not by the consent that we know of.
  public var detail: Detail { clickDate != nil || impressionDate != nil ? .detailed : .standard }

  /// True for the test record of development-signed builds: organization, campaign and ad group are all 1234567890.
  public var isTest: Bool {
    attribution && [orgId, campaignId, adGroupId].allSatisfy { $0 == Self.placeholderId }
  }

  /// The outcome of the token's exchange.
  public var outcome: AdServicesOutcome { isTest ? .test : attribution ? .attributed : .organic }

  /// The known fields under Apple's names with normalized values, without absent ones.
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

  private static let placeholderId: Int64 = 1_234_567_890

  /// A 64-bit id as a number or its decimal text; `null` is absent.
  private static func id(_ name: String, in object: JSONObject) throws(FieldError) -> Int64? {
    switch object[name] {
    case nil, .null: return nil
    case .number(let number):
      if let value = number.int64 { return value }
    case .string(let text):
      if let value = Int64(text), String(value) == text { return value }
    default: break
    }
    throw FieldError(field: name, reason: "must be a whole number of 64 bits")
  }

  private static func text(_ name: String, in object: JSONObject) throws(FieldError) -> String? {
    switch object[name] {
    case nil, .null: return nil
    case .string(let text): return text
    default: throw FieldError(field: name, reason: "must be a string")
    }
  }
}
