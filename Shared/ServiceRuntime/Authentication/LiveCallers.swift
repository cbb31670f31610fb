import Synchronization

/// The current callers. A reload of the configuration replaces all of them.
final class LiveCallers: Sendable {
  private let directory: Mutex<CallerDirectory>

  init(_ directory: CallerDirectory) { self.directory = Mutex(directory) }

  var current: CallerDirectory { directory.withLock { $0 } }

  func replace(by next: CallerDirectory) { directory.withLock { $0 = next } }
}
