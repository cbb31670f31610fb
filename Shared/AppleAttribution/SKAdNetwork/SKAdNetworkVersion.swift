import Cryptography

/// The versions of SKAdNetwork that Apple has defined; 4.0 is the last.
public enum SKAdNetworkVersion: String, Sendable, Hashable, CaseIterable, Comparable {
  case v1_0 = "1.0"
  case v2_0 = "2.0"
  case v2_1 = "2.1"
  case v2_2 = "2.2"
  case v3_0 = "3.0"
  case v4_0 = "4.0"

  public static func < (a: SKAdNetworkVersion, b: SKAdNetworkVersion) -> Bool { a.rawValue < b.rawValue }

  /// True if the signed text of impressions and postbacks begins with the version; that of 1.0 does not contain it.
  var isSigned: Bool { self > .v1_0 }

  /// The curve with which Apple signs postbacks of this version. Version 2.0 still has the old one.
  var postbackCurve: Curve { self <= .v2_0 ? .p192 : .p256 }
}
