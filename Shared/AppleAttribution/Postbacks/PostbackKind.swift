/// The two kinds of postbacks, which are the kinds of their messages in a queue.
public enum PostbackKind: String, Sendable, Hashable, CaseIterable {
  case skAdNetwork = "skadnetwork-postback"
  case adAttributionKit = "adattributionkit-postback"

  /// The attribute of a message that names the ad network whose URL was called.
  public static let expectedAdNetworkAttribute = "expectedAdNetworkId"
}
