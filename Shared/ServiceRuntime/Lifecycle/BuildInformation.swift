import AttributionProtocol
import CBuildInformation
import CICUData

/// What was built: version, commit and kind of build.
public enum BuildInformation {
  /// The semantic version of this source. Deploy/release compares it with CHANGELOG.md.
  public static let version = "0.2.0"

  /// The commit's hash; `unknown` where the build found neither a repository nor ATTRIBUTION_COMMIT.
  public static let commit = String(cString: attribution_build_commit())

  #if DEBUG
    public static let build = "debug"
  #else
    public static let build = "release"
  #endif

  /// Whether the executable carries no locale data of ICU. Referred to so that the linker takes the empty data package.
  static let hasEmptyICUData = attribution_icu_data_is_empty() != 0

  /// What `--version` prints, such as `signer 0.2.0 (commit 1f0a9c2e, release build)`.
  static func text(_ service: ServiceName) -> String { "\(service.rawValue) \(version) (commit \(commit), \(build) build)" }
}
