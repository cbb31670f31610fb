/// One of Apple's two App Store servers, by the name that Apple's `environment` fields use.
///
/// Neither knows the data of the other. `Xcode` and `LocalTesting` are environments without a server.
public enum AppStoreServer: String, Sendable, Hashable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  /// Apple's own address, recommended since May 2026. The variables `ATTRIBUTION_APP_STORE_PRODUCTION_URL` and
  /// `ATTRIBUTION_APP_STORE_SANDBOX_URL` replace it.
  public var defaultBaseURL: String {
    self == .production ? "https://api.storekit.apple.com" : "https://api.storekit-sandbox.apple.com"
  }
}
