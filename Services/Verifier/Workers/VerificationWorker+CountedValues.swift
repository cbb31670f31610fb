import AppleAttribution
import AttributionQueue
import WireJSON

/// The values of verified postbacks that are counted for the console's charts.
extension VerificationWorker {
  /// The values of a postback that are counted: a conversion value and, if the postback has one, a source identifier. Development postbacks
  /// are not counted, because any device in Developer Mode can create them for any app.
  ///
  /// - Parameter window: the postback's sequence index; nil for SKAdNetwork versions without one.
  static func counted(
    app: Int64, _ environment: PostbackEnvironment, isWinning: Bool, unsigned: UnsignedValues, window: Int?, adNetworkId: String,
    source: String?
  ) -> [CountedValue] {
    guard environment == .production else { return [] }
    // The conversion value is not signed, so anyone may have added one. Apple sends none for an ad that did not win, and a fine one only in
    // the first window.
    let value: CountedValue
    if isWinning, window ?? 0 == 0, let fine = unsigned.conversionValue {
      value = .fine(app: app, fine)
    } else if isWinning, let coarse = unsigned.coarseConversionValue {
      value = .coarse(app: app, coarse.rawValue)
    } else {
      value = .noConversion(app: app)
    }
    guard let source else { return [value] }
    return [value, .source(adNetworkId: adNetworkId.asciiLowercased, source)]
  }
}
