import WireJSON

/// Apple's record for a token (AdServices: Attribution payload). It names the ad that led to the installation, or says that there was none.
///
/// All fields that Apple documents have a property here; unknown fields stay in ``raw``. Ids are 64-bit integers, so no digit is lost. The
/// record is read member by member: only `attribution` is required, and a member of another type than Apple documents is left out.
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
  /// The documented fields that were left out because their value has another type, in alphabetical order.
  public let unusable: [String]
  /// Apple's record, unchanged, including unknown and unusable fields.
  public let raw: JSONObject

  /// Parses the body of a response with the status 200. Throws ``FieldError`` if it is not a JSON object, or if `attribution` is missing or
  /// not a Boolean.
  public init(parsing body: [UInt8]) throws(FieldError) {
    let value: JSONValue
    do { value = try JSONValue(parsing: body) } catch { throw FieldError(field: error.path, reason: error.reason) }
    guard case .object(let object) = value else { throw FieldError(field: "", reason: "must be an object") }
    try self.init(object)
  }

  /// Reads a JSON object, such as a stored ``raw``. Throws ``FieldError`` if `attribution` is missing or not a Boolean.
  public init(_ object: JSONObject) throws(FieldError) {
    guard let attribution = object["attribution"]?.boolValue else {
      throw FieldError(field: "attribution", reason: "must be true or false")
    }
    self.attribution = attribution
    var unusable: [String] = []
    func member<Value>(_ name: String, _ read: (JSONValue) -> Value?) -> Value? {
      guard let value = object[name], !value.isNull else { return nil }
      let usable = read(value)
      if usable == nil { unusable.append(name) }
      return usable
    }
    func id(_ name: String) -> Int64? { member(name) { $0.numberValue?.int64 } }
    func text(_ name: String) -> String? { member(name) { $0.stringValue } }
    orgId = id("orgId")
    campaignId = id("campaignId")
    adGroupId = id("adGroupId")
    keywordId = id("keywordId")
    adId = id("adId")
    creativeSetId = id("creativeSetId")
    conversionType = text("conversionType").map { ConversionType($0) }
    claimType = text("claimType").map { ClaimType($0) }
    clickDate = text("clickDate")
    impressionDate = text("impressionDate")
    countryOrRegion = text("countryOrRegion")
    supplyPlacement = text("supplyPlacement")
    self.unusable = unusable.sorted()
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
}
