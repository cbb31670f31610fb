import AttributionProtocol
import CBuildInformation
import CICUData

/// The version, the commit and the configuration (debug or release) of the build.
public enum BuildInformation {
  /// The semantic version of this source. `Deploy/release` compares it with `CHANGELOG.md`.
  public static let version = "0.2.0"

  /// The commit's hash; `unknown` if there was neither a repository nor the variable ATTRIBUTION_COMMIT at the build.
  public static let commit = String(cString: attribution_build_commit())

  #if DEBUG
    public static let build = "debug"
  #else
    public static let build = "release"
  #endif

  /// True if the executable contains no ICU locale data, which makes it smaller. This reference to a symbol of CICUData makes the linker
  /// choose the empty data package.
  static let hasEmptyICUData = attribution_icu_data_is_empty() != 0

  /// The output of `--version`, such as `signer 0.2.0 (commit 1f0a9c2e, release build)`.
  static func text(_ service: ServiceName) -> String { "\(service.rawValue) \(version) (commit \(commit), \(build) build)" }
}
