/// The environment of a postback: users or tests.
public enum PostbackEnvironment: String, Sendable, Hashable {
  case production
  /// Any phone in Developer Mode can make one for any app, so these must not be counted together with real ones.
  case development
}
