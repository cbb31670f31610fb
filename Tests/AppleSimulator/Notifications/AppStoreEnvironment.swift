/// Apple's two server environments.
public enum AppStoreEnvironment: String, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  /// The number of days that *Get Notification History* covers.
  var historyDays: Int64 { self == .production ? 180 : 30 }
}
