/// The versions of SKAdNetwork that Apple has defined. 4.0 is the last one; newer features are in AdAttributionKit. ``postbackCurve``, in
/// `ApplePublicKeys.swift`, is the curve of the key with which Apple signs the postbacks of a version.
public enum SKAdNetworkVersion: String, Sendable, Hashable, CaseIterable, Comparable {
  case v1_0 = "1.0"
  case v2_0 = "2.0"
  case v2_1 = "2.1"
  case v2_2 = "2.2"
  case v3_0 = "3.0"
  case v4_0 = "4.0"

  public static func < (a: SKAdNetworkVersion, b: SKAdNetworkVersion) -> Bool { a.rawValue < b.rawValue }

  /// True if the signed text of impressions and postbacks begins with the version. In 1.0 it does not contain the version.
  var isSigned: Bool { self > .v1_0 }
}
