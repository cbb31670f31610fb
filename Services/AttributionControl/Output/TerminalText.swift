/// Formats ages, counts and states for the terminal.
enum TerminalText {
  /// A time in seconds as `4.2s`, `3m12s`, `5h07m` or `2d03h`; empty for nil.
  static func age(_ seconds: Double?) -> String {
    guard let seconds else { return "" }
    let whole = Int(seconds.rounded())
    switch seconds {
    case ..<9.95: return "\((max(0, seconds) * 10).rounded() / 10)s"
    case ..<99.5: return "\(whole)s"
    case ..<3600: return "\(whole / 60)m\(twoDigits(whole % 60))s"
    case ..<86_400: return "\(whole / 3600)h\(twoDigits(whole / 60 % 60))m"
    default: return "\(whole / 86_400)d\(twoDigits(whole / 3600 % 24))h"
    }
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// The style of a state, such as that of a finding, a delivery, an endpoint, a job or a key.
  static func state(_ state: String) -> CellStyle {
    switch state {
    case "ok", "active", "verified", "done", "completed", "recovered", "enabled", "valid", "attributed", "published": .good
    case "warning", "accepted", "running", "suspected", "retiring", "pending", "delayed", "waiting", "leased", "attempt", "queued": .warning
    case "failed", "rejected", "dead", "unrecoverable", "disabled", "gone", "revoked", "cancelled", "invalid", "error": .bad
    case "unwanted": .faint
    default: .plain
    }
  }

  /// `1 event`, `2 events`.
  static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
