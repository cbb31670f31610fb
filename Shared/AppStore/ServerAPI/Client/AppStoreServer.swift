/// One of Apple's two App Store servers, by the name that Apple's `environment` fields use.
///
/// Neither server knows the data of the other. The environments `Xcode` and `LocalTesting` have no server.
public enum AppStoreServer: String, Sendable, Hashable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  /// The URL that Apple recommends. The environment variables `ATTRIBUTION_APP_STORE_PRODUCTION_URL` and
  /// `ATTRIBUTION_APP_STORE_SANDBOX_URL` replace it.
  public var defaultBaseURL: String {
    self == .production ? "https://api.storekit.apple.com" : "https://api.storekit-sandbox.apple.com"
  }
}
