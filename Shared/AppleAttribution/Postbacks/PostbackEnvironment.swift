/// The environment of a postback, decided by the key that signed it (``ApplePublicKeys/environment(ofKid:)``).
public enum PostbackEnvironment: String, Sendable, Hashable {
  /// The postback is about a conversion of a user.
  case production
  /// The postback is a test. Any phone in Developer Mode can make one for any app, so tests must not be counted together with production
  /// postbacks.
  case development
}
