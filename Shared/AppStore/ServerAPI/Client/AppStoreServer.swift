/// One of Apple's two App Store servers, by the name that Apple's `environment` fields use.
///
/// Data of one is unknown to the other. `Xcode` and `LocalTesting` are made locally: no server exists for them.
public enum AppStoreServer: String, Sendable, Hashable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  /// Days that notifications are kept (Get Notification History).
  public var notificationHistoryDays: Int64 { self == .production ? 180 : 30 }

  /// Apple's own address, recommended since May 2026.
  public var defaultBaseURL: String {
    self == .production ? "https://api.storekit.apple.com" : "https://api.storekit-sandbox.apple.com"
  }
}
