public import WireJSON

/// The queue message of a notification: its kind and its attributes. Apple's object is in ``NotificationContents``.
public enum NotificationMessage {
  /// The kind of a message whose body is the `signedPayload`.
  public static let kind = "notification"

  /// The attributes that mark a notification of version 1. Its message has no body, because version 1 contains the app's shared secret, and
  /// is recorded as rejected.
  public static let version1Attributes = [versionAttribute: version1]

  private static let versionAttribute = "version"
  private static let version1 = "1"

  /// True if a body that was sent is a notification of version 1. It is recognized by its form and not parsed.
  public static func isVersion1(_ body: JSONObject) -> Bool { body["signedPayload"] == nil && body["notification_type"] != nil }

  /// True if a message's attributes mark a notification of version 1.
  public static func isVersion1(attributes: [String: String]) -> Bool { attributes[versionAttribute] == version1 }
}
