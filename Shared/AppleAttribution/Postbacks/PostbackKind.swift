/// The framework of a postback. The raw value is the kind of the postback's message in the queue.
public enum PostbackKind: String, Sendable, Hashable, CaseIterable {
  case skAdNetwork = "skadnetwork-postback"
  case adAttributionKit = "adattributionkit-postback"

  /// The name of the message attribute with the id of the ad network whose URL was called.
  public static let expectedAdNetworkAttribute = "expectedAdNetworkId"
}
