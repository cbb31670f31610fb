/// A value of a verified delivery that is counted over time.
public enum CountedValue: Sendable, Hashable {
  /// A fine conversion value of an app; the app is named by its Apple id.
  case fine(app: Int64, Int)
  /// A coarse conversion value of an app.
  case coarse(app: Int64, String)
  /// A postback of an app without a conversion value.
  case noConversion(app: Int64)
  /// A source identifier of an ad network with the digits that Apple sent, or a campaign id before version 4.0.
  case source(adNetworkId: String, String)
  /// A notification of an app.
  case notification(bundleId: String, type: String)
  /// All values beyond the maximum number of different values (``DeliveryCounter/maxValues``).
  case other

  /// The value's name in a hash of counts: a letter and the parts. The part that may contain any text is in the middle.
  var field: String {
    switch self {
    case .fine(let app, let value): "f|\(app)|\(value)"
    case .coarse(let app, let value): "c|\(app)|\(value)"
    case .noConversion(let app): "n|\(app)|"
    case .source(let network, let digits): "s|\(network)|\(digits)"
    case .notification(let bundleId, let type): "t|\(bundleId)|\(type)"
    case .other: "o||"
    }
  }

  /// Parses a field; nil if it is invalid.
  init?(field: String) {
    guard field.utf8.count > 2, let last = field.lastIndex(of: "|"), field.dropFirst().first == "|" else { return nil }
    let start = field.index(field.startIndex, offsetBy: 2)
    guard start <= last else { return nil }
    let (owner, value) = (String(field[start..<last]), String(field[field.index(after: last)...]))
    switch (field.first, Int64(owner)) {
    case ("f", let app?): guard let number = Int(value) else { return nil }; self = .fine(app: app, number)
    case ("c", let app?): self = .coarse(app: app, value)
    case ("n", let app?): self = .noConversion(app: app)
    case ("s", _): self = .source(adNetworkId: owner, value)
    case ("t", _): self = .notification(bundleId: owner, type: value)
    case ("o", _): self = .other
    default: return nil
    }
  }
}
