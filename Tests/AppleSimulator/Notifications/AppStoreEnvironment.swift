/// The two environments that Apple runs servers for.
public enum AppStoreEnvironment: String, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  /// How far *Get Notification History* reaches back, days.
  var historyDays: Int64 { self == .production ? 180 : 30 }
}
