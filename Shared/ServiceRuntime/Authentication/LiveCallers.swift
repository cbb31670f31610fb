import Synchronization

/// The current ``CallerDirectory``. A reload of the configuration (SIGHUP) replaces it.
final class LiveCallers: Sendable {
  private let directory: Mutex<CallerDirectory>

  init(_ directory: CallerDirectory) { self.directory = Mutex(directory) }

  var current: CallerDirectory { directory.withLock { $0 } }

  func replace(by next: CallerDirectory) { directory.withLock { $0 = next } }
}
