public import WireJSON

/// The kind and the attributes of a notification's message in the queue. ``NotificationContents`` is about the notification itself.
public enum NotificationMessage {
  /// The kind of a message whose body is the `signedPayload`.
  public static let kind = "notification"

  /// The attributes that mark a notification of version 1. Such a notification is recorded as rejected. Its message has no body, because
  /// version 1 contains the app's shared secret.
  public static let version1Attributes = [versionAttribute: version1]

  private static let versionAttribute = "version"
  private static let version1 = "1"

  /// True if a request's body is a notification of version 1. It is recognized by the names of two members, and nothing else is read.
  public static func isVersion1(_ body: JSONObject) -> Bool { body["signedPayload"] == nil && body["notification_type"] != nil }

  /// True if a message's attributes mark a notification of version 1.
  public static func isVersion1(attributes: [String: String]) -> Bool { attributes[versionAttribute] == version1 }
}
