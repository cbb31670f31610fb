import WireJSON

extension EventAttributes {
  /// Reads the attributes from an event's JSON, by the same rule as `addAttributes` in filter.lua, for events that older builds wrote
  /// without attributes.
  public init(describing json: [UInt8], type: String) {
    guard let event = try? JSONValue(parsing: json, limits: .ownDocuments) else {
      self.init()
      return
    }
    let (data, subject) = (event["data"], event["subject"].flatMap(Self.text))
    let isPostback = type.hasPrefix("attribution.skadnetwork.") || type.hasPrefix("attribution.adattributionkit.")
    let postback = data?["postback"]
    let app =
      isPostback
      ? postback?["app-id"].flatMap(Self.text) ?? postback?["payload"]?["advertised-item-identifier"].flatMap(Self.text)
      : data?["payload"]?["data"]?["appAppleId"].flatMap(Self.text)
    self.init(
      adNetworkId: isPostback ? subject : nil, appAppleId: app.flatMap { Int64($0) }, bundleId: isPostback ? nil : subject,
      environment: data?["environment"].flatMap(Self.text))
  }

  /// A text that is not empty, or a number as text.
  private static func text(_ value: JSONValue) -> String? {
    if let text = value.stringValue { return text.isEmpty ? nil : text }
    return value.int64Value.map { String($0) }
  }
}
