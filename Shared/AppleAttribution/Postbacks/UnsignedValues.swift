public import WireJSON

/// The values of a postback that Apple does not sign (Identifying the parameters in install-validation postbacks; Identifying the
/// parameters in a postback).
///
/// Anyone who passes a postback on can change them, and forwarders write an empty text or another word where they have no value. So a value
/// that cannot be used never rejects the postback. It counts as no value, and is named in ``unusable``. `null` is absent.
public struct UnsignedValues: Sendable, Hashable {
  /// The values of one form of postbacks, in the alphabetical order of their names.
  enum Form: Sendable, Hashable {
    case skAdNetwork(SKAdNetworkVersion)
    case adAttributionKit

    fileprivate var names: [Name] {
      switch self {
      case .skAdNetwork(.v1_0): []
      case .skAdNetwork(.v4_0): Self.newest
      case .skAdNetwork: Self.fineValue
      case .adAttributionKit: Self.all
      }
    }

    // Constants, so that no array is made for each postback.
    private static let newest: [Name] = [.coarseConversionValue, .conversionValue, .countryCode]
    private static let fineValue: [Name] = [.conversionValue]
    private static let all = Name.allCases
  }

  fileprivate enum Name: String, CaseIterable {
    case adInteractionType = "ad-interaction-type"
    case coarseConversionValue = "coarse-conversion-value"
    case conversionValue = "conversion-value"
    case countryCode = "country-code"
  }

  /// `click` or `view`.
  public private(set) var adInteractionType: String?
  /// 0 to 63. Apple sends it only in the first window. In another window it is kept, but has no meaning (``ConversionSchema``).
  public private(set) var conversionValue: Int?
  /// Never present together with ``conversionValue``.
  public private(set) var coarseConversionValue: CoarseConversionValue?
  /// Two letters in upper case, ISO 3166.
  public private(set) var countryCode: String?
  /// The values as they came, under Apple's names. Of a longer value that cannot be used, only the first ``maxReceivedBytes`` of its text are
  /// kept, as a string: anyone can send it, and it is published.
  public private(set) var received = JSONObject()
  /// The names in ``received`` whose value cannot be used, in alphabetical order.
  public private(set) var unusable: [String] = []
  private let form: Form
  /// The greatest length of a value in ``received`` that cannot be used, bytes of UTF-8.
  static let maxReceivedBytes = 256

  /// Reads the values from a body. Its other members are ignored.
  init(_ body: JSONObject, of form: Form) {
    self.form = form
    for name in form.names {
      guard let value = body[name.rawValue], !value.isNull else { continue }
      let isUsable = read(name, value)
      received.append(new: name.rawValue, isUsable ? value : Self.shortened(value))
      if !isUsable { unusable.append(name.rawValue) }
    }
    // Apple sends at most one of the two, so if both can be used, it is unknown which one is Apple's.
    if conversionValue != nil, coarseConversionValue != nil {
      (conversionValue, coarseConversionValue) = (nil, nil)
      unusable = (unusable + [Name.coarseConversionValue.rawValue, Name.conversionValue.rawValue]).sorted()
    }
  }

  /// The values that can be used, in Apple's types. Deliveries of one postback that are equal in them say the same.
  public var usable: JSONObject {
    var object = JSONObject()
    for name in form.names { object.append(new: name.rawValue, typed(name)) }
    return object
  }

  /// The values of an earlier event about the same postback, from its ``received`` values.
  public func earlier(_ received: JSONObject) -> UnsignedValues { UnsignedValues(received, of: form) }

  /// How a member is shown that has no typed value.
  func withoutValue(_ name: String) -> PostbackMember { unusable.contains(name) ? .unusable : .foreign }

  private func typed(_ name: Name) -> JSONValue? {
    switch name {
    case .adInteractionType: adInteractionType.map { .string($0) }
    case .coarseConversionValue: (coarseConversionValue?.rawValue).map { .string($0) }
    case .conversionValue: conversionValue.map { .integer($0) }
    case .countryCode: countryCode.map { .string($0) }
    }
  }

  /// The value, or the beginning of its text if that is longer than ``maxReceivedBytes``.
  private static func shortened(_ value: JSONValue) -> JSONValue {
    let text = value.stringValue ?? value.serializedString
    guard text.utf8.count > maxReceivedBytes else { return value }
    var end = text.utf8.index(text.startIndex, offsetBy: maxReceivedBytes)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return .string(String(text[..<end]))
  }

  /// Reads one value. Returns false if it cannot be used. A text that may be the beginning of a longer value cannot be.
  private mutating func read(_ name: Name, _ value: JSONValue) -> Bool {
    if let text = value.stringValue, text.utf8.count > Self.maxReceivedBytes - 4 { return false }
    switch name {
    case .adInteractionType:
      adInteractionType = (value.stringValue?.asciiLowercased).flatMap { ["click", "view"].contains($0) ? $0 : nil }
      return adInteractionType != nil
    case .coarseConversionValue:
      coarseConversionValue = (value.stringValue?.asciiLowercased).flatMap { CoarseConversionValue(rawValue: $0) }
      return coarseConversionValue != nil
    case .conversionValue:
      conversionValue = PostbackFields.integer(value).flatMap { (0...63).contains($0) ? Int($0) : nil }
      return conversionValue != nil
    case .countryCode:
      guard let code = value.stringValue, code.utf8.count == 2, code.utf8.allSatisfy({ (65...90).contains($0 & 0xDF) }) else {
        return false
      }
      countryCode = code.uppercased()
      return true
    }
  }
}
