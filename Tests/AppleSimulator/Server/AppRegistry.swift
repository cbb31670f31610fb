import Synchronization
import WireJSON

/// The registered apps, stored in the state directory between runs.
public final class AppRegistry: Sendable {
  private let apps: Mutex<[String: SimulatedApp]>
  private let directory: StateDirectory

  init(directory: StateDirectory) throws {
    self.directory = directory
    var known: [String: SimulatedApp] = [:]
    if let text = directory.read("apps.json"), let list = try? JSONValue(parsing: text).arrayValue {
      for entry in list {
        if let object = entry.objectValue, let app = try? SimulatedApp(object) { known[app.bundleID] = app }
      }
    }
    apps = Mutex(known)
  }

  /// Adds an app, or replaces the one with the same bundle id, and stores all apps.
  func register(_ app: SimulatedApp) throws {
    let list = apps.withLock { apps in
      apps[app.bundleID] = app
      return apps.values.sorted { $0.bundleID < $1.bundleID }
    }
    try directory.write("apps.json", JSONValue.array(list.map { .object($0.json) }).serializedString)
  }

  func app(_ bundleID: String) -> SimulatedApp? { apps.withLock { $0[bundleID] } }

  var all: [SimulatedApp] { apps.withLock { $0.values.sorted { $0.bundleID < $1.bundleID } } }

  /// The In-App Purchase key with this id, of any app's team.
  func key(_ keyID: String) -> SimulatedApp.APIKey? {
    apps.withLock { apps in apps.values.lazy.flatMap(\.keys).first { $0.keyID == keyID } }
  }
}
