// swift-tools-version:6.2
import PackageDescription

/// An incremental build names a warning only when it compiles that file, so a warning would be overlooked. With ATTRIBUTION_WARNINGS a
/// compiler that knows more warnings builds the package too.
let warnings: [SwiftSetting] = Context.environment["ATTRIBUTION_WARNINGS"] == nil ? [.treatAllWarnings(as: .error)] : []

let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
  ] + warnings

/// Async functions run on their caller's executor, so that no message pays for an executor hop. Not in tests: the testing library does not
/// recognise closures among a test's arguments when this feature changes their types.
let product = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// Modules that debug builds optimise too: they call generic code of NIO and of the Redis client for each message, which is several times
/// slower otherwise, and system tests take twice as long. Only modules outside of the client library: SwiftPM refuses the flag in packages
/// that others depend on. With ATTRIBUTION_UNOPTIMIZED a debugger sees all variables.
let optimizedModules: Set<String> = ["EventLoops", "RedisClient", "AttributionQueue", "ServiceRuntime"]
let optimized: [SwiftSetting] =
  Context.environment["ATTRIBUTION_UNOPTIMIZED"] == nil
  ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

/// A module of `Shared/`.
func shared(
  _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil, exclude: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Shared/\(name)", exclude: exclude,
    resources: resources, swiftSettings: product + (optimizedModules.contains(name) ? optimized : []))
}

/// One of the five services; `Services/<Folder>` builds the executable `name`.
func service(
  _ name: String, folder: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil, settings: [SwiftSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Services/\(folder)", resources: resources, swiftSettings: product + settings)
}

func tests(_ module: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(module)Tests", dependencies: [.target(name: module), "TestSupport"] + dependencies,
    path: "Tests/\(module)Tests", swiftSettings: strict)
}

let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioLocks: Target.Dependency = .product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// The dependencies of every service.
let serviceParts: [Target.Dependency] = [
  "AttributionClient", "AttributionProtocol", "WireJSON", "ServiceRuntime", "Cryptography", arguments, logging,
]

/// The commit that `--version` prints. An image build has no repository and passes it in the variable.
let commit: String = {
  if let named = Context.environment["ATTRIBUTION_COMMIT"], !named.isEmpty, named.allSatisfy(\.isHexDigit) { return named }
  guard let git = Context.gitInformation else { return "unknown" }
  return git.currentCommit.prefix(12) + (git.hasUncommittedChanges ? "_modified" : "")
}()

let package = Package(
  name: "apple-attribution-services",
  platforms: [.macOS(.v15)],
  products: [
    // The client library; a package that depends on it builds nothing of the services.
    .library(name: "AttributionClient", targets: ["AttributionClient", "AttributionProtocol", "HTTPClient", "WireJSON"]),
    .executable(name: "signer", targets: ["signer"]),
    .executable(name: "verifier", targets: ["verifier"]),
    .executable(name: "ingest", targets: ["ingest"]),
    .executable(name: "notification-recovery", targets: ["notification-recovery"]),
    .executable(name: "asa-token-broker", targets: ["asa-token-broker"]),
    .executable(name: "attributionctl", targets: ["attributionctl"]),
    .executable(name: "apple-simulator", targets: ["apple-simulator"]),
  ],
  // Versions are exact because Package.resolved is not kept; versions of indirect dependencies are in Deploy/sbom/packages.json. Traits that
  // bring in all of Foundation, with 34 MB of ICU data, are off.
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
  ],
  targets: [
    .target(
      name: "COpenSSL", path: "Shared/COpenSSL", linkerSettings: [.linkedLibrary("crypto")]),
    .target(name: "CHiredis", path: "Shared/CHiredis", linkerSettings: [.linkedLibrary("hiredis")]),
    .target(
      name: "CCurl", path: "Shared/CCurl",
      linkerSettings: [.linkedLibrary("curl")]),

    .target(
      name: "CBuildInformation", path: "Shared/CBuildInformation", cSettings: [.define("ATTRIBUTION_COMMIT", to: commit)]),
    .target(
      name: "CICUData", path: "Shared/CICUData", cSettings: [.define("ATTRIBUTION_EMPTY_ICU_DATA", .when(configuration: .release))]),
    .target(name: "CPSL", path: "Shared/CPSL"),
    .target(name: "CZlib", path: "Shared/CZlib", linkerSettings: [.linkedLibrary("z")]),

    shared("WireJSON"),
    shared("AttributionProtocol", ["WireJSON"], exclude: ["Contract", "Generator"]),
    shared("Cryptography", ["COpenSSL"]),
    shared("PublicSuffixes", ["CPSL"]),
    shared("AppleAttribution", ["WireJSON", "Cryptography", "PublicSuffixes"]),
    shared("HTTPClient", ["CCurl", logging]),
    shared("AttributionClient", ["AttributionProtocol", "WireJSON", "HTTPClient"]),
    shared("AppStore", ["WireJSON", "Cryptography", "HTTPClient"]),
    shared("EventLoops", [nioCore, nioPosix]),
    shared("Traces", ["Cryptography"]),
    shared(
      "RedisClient", ["CHiredis", "Cryptography", nioCore, nioPosix, nioSSL, nioLocks, logging], resources: [.embedInCode("Scripts")]),
    shared(
      "AttributionQueue", ["EventLoops", "RedisClient", "WireJSON", "Cryptography", "Traces", nioCore, logging],
      resources: [.embedInCode("Scripts")]),
    shared("UpstreamPacing", ["RedisClient", "Cryptography"], resources: [.embedInCode("Scripts")]),
    shared(
      "ServiceRuntime",
      [
        "AppStore", "AttributionClient", "AttributionProtocol", "WireJSON", "Cryptography", "EventLoops", "HTTPClient", "RedisClient",
        "AttributionQueue", "CBuildInformation", "CICUData", "CZlib", "PublicSuffixes", "Traces", hummingbirdCore, nioCore, nioPosix,
        nioHTTP1, nioHTTP2,
        nioSSL,
        logging, lifecycle, unixSignals, arguments,
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Yams", package: "Yams"),
      ]),

    shared(
      "EventPush",
      [
        "AttributionProtocol", "AttributionQueue", "Cryptography", "HTTPClient", "RedisClient", "ServiceRuntime", "Traces", "WireJSON",
        logging,
      ]),

    shared(
      "Console",
      [
        "AttributionClient", "AttributionProtocol", "AttributionQueue", "Cryptography", "RedisClient", "ServiceRuntime", "WireJSON",
        logging,
        nioHTTP1, .product(name: "Mustache", package: "swift-mustache"),
      ],
      resources: [.embedInCode("Assets")]),

    service(
      "signer", folder: "Signer",
      serviceParts + ["AppleAttribution", "AppStore", "AttributionQueue", "PublicSuffixes", "RedisClient"],
      resources: [.embedInCode("Scripts")]),
    service(
      "verifier", folder: "Verifier",
      serviceParts + [
        "AppleAttribution", "AppStore", "AttributionQueue", "Console", "EventPush", "PublicSuffixes", "RedisClient", "HTTPClient",
      ],
      resources: [.embedInCode("Scripts")]),
    service(
      "ingest", folder: "Ingest",
      serviceParts + ["AppleAttribution", "AppStore", "AttributionQueue", "EventLoops", "RedisClient", "HTTPClient", "UpstreamPacing"],
      resources: [.embedInCode("Scripts")]),
    service(
      "notification-recovery", folder: "NotificationRecovery",
      serviceParts + ["AppStore", "AttributionQueue", "RedisClient", "HTTPClient", "UpstreamPacing"],
      resources: [.embedInCode("Scripts")],
      // Optimised for size: it is the largest service and mostly waits for Apple.
      settings: [.unsafeFlags(["-Osize"], .when(configuration: .release))]),
    service(
      "asa-token-broker", folder: "ASATokenBroker",
      serviceParts + ["AppleAttribution", "AttributionQueue", "RedisClient", "HTTPClient", "UpstreamPacing"]),

    // The operators' command line, over the public contract. It uses ServiceRuntime only to read configuration files.
    service(
      "attributionctl", folder: "AttributionControl",
      [
        "AppleAttribution", "AppStore", "AttributionClient", "AttributionProtocol", "Cryptography", "HTTPClient", "ServiceRuntime",
        "WireJSON",
        arguments, unixSignals, .product(name: "Yams", package: "Yams"),
      ]),

    .target(
      name: "AppleSimulator",
      dependencies: [
        "WireJSON", "COpenSSL", "HTTPClient", .product(name: "Hummingbird", package: "hummingbird"), nioCore, nioPosix, nioHTTP2, nioSSL,
        logging, lifecycle,
        hummingbirdCore,
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ], path: "Tests/AppleSimulator", exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "apple-simulator", dependencies: ["AppleSimulator", arguments, logging, lifecycle],
      path: "Tests/AppleSimulatorMain", swiftSettings: strict),

    // The example of a feed reader, built here for its tests. Users build it as the package beside it.
    .executableTarget(
      name: "example-consumer", dependencies: ["AttributionClient", "AttributionProtocol"], path: "Examples/swift/Sources/consumer",
      swiftSettings: [.swiftLanguageMode(.v6)]),

    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "RedisTestSupport", dependencies: ["RedisClient", logging], path: "Tests/RedisTestSupport", swiftSettings: strict),
    tests("WireJSON"),
    tests("AttributionProtocol", ["WireJSON"]),
    tests("AttributionClient", ["AttributionProtocol", "HTTPClient", "WireJSON", nioCore, nioPosix, nioHTTP1]),
    .target(name: "BatchSigningFaults", dependencies: ["COpenSSL"], path: "Tests/BatchSigningFaults"),
    tests("Cryptography", ["BatchSigningFaults", "COpenSSL"]),
    tests("Traces"),
    tests("PublicSuffixes"),
    tests("AppleAttribution", ["WireJSON", "Cryptography", "PublicSuffixes"]),
    tests("AppStore", ["AppleSimulator", "WireJSON", "Cryptography", "HTTPClient"]),
    tests("HTTPClient"),
    tests("RedisClient", ["RedisTestSupport", nioCore, nioPosix, .product(name: "NIOEmbedded", package: "swift-nio")]),
    tests("AttributionQueue", ["EventLoops", "RedisClient", "RedisTestSupport", "Traces", nioCore, nioPosix]),
    tests("EventPush", ["AttributionQueue", "HTTPClient", "RedisClient", "RedisTestSupport", "ServiceRuntime", logging]),
    tests(
      "Console",
      [
        "AttributionClient", "AttributionProtocol", "AttributionQueue", "Cryptography", "HTTPClient", "RedisClient", "ServiceRuntime",
        nioHTTP1, logging, .product(name: "Mustache", package: "swift-mustache"),
      ]),
    tests("UpstreamPacing", ["RedisClient", "RedisTestSupport", logging]),
    tests(
      "ServiceRuntime",
      [
        "AttributionClient", "AttributionProtocol", "AttributionQueue", "Cryptography", "EventLoops", "WireJSON", "HTTPClient", "Traces",
        nioCore, nioPosix, nioHTTP1, logging, .product(name: "NIOEmbedded", package: "swift-nio"),
      ]),
    tests("AppleSimulator", ["WireJSON", "Cryptography", "HTTPClient"]),
    .testTarget(
      name: "NotificationRecoveryTests",
      dependencies: [
        "notification-recovery", "AppStore", "AttributionClient", "AttributionProtocol", "AttributionQueue", "HTTPClient",
        "RedisTestSupport", "ServiceRuntime", "WireJSON",
      ],
      path: "Tests/NotificationRecoveryTests", swiftSettings: strict),
    .testTarget(
      name: "AttributionControlTests",
      dependencies: [
        "attributionctl", "AppleAttribution", "AttributionProtocol", "Cryptography", "HTTPClient", "ServiceRuntime", "WireJSON",
      ],
      path: "Tests/AttributionControlTests", swiftSettings: strict),
    .testTarget(
      name: "ASATokenBrokerTests",
      dependencies: [
        "asa-token-broker", "AppleAttribution", "AttributionProtocol", "AttributionQueue", "RedisClient", "RedisTestSupport",
        "UpstreamPacing", "WireJSON",
      ],
      path: "Tests/ASATokenBrokerTests", swiftSettings: strict),
    .testTarget(
      name: "IngestTests",
      dependencies: ["ingest", "AppleAttribution", "AttributionQueue", "RedisClient", "RedisTestSupport", "WireJSON"],
      path: "Tests/IngestTests", swiftSettings: strict),
    .testTarget(
      name: "SignerTests", dependencies: ["signer", "Cryptography", "ServiceRuntime", logging], path: "Tests/SignerTests",
      swiftSettings: strict),

    .target(
      name: "FuzzTargets",
      dependencies: ["AppStore", "AppleAttribution", "AttributionProtocol", "Cryptography", "PublicSuffixes", "WireJSON"],
      path: "Tests/Fuzz/Targets", swiftSettings: strict),
    .testTarget(name: "FuzzCorpusTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Tests", swiftSettings: strict),
  ]
)

// Web pages of the client library and the contract: see CONTRIBUTING.md.
if Context.environment["ATTRIBUTION_DOCUMENTATION"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"))
}

// Libraries beside which Tests/Benchmarks/run parts measures parts of this project.
if Context.environment["ATTRIBUTION_PARTS"] != nil {
  package.dependencies.append(.package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"))
  package.products.append(.executable(name: "parts-benchmark", targets: ["parts-benchmark"]))
  package.targets.append(
    .executableTarget(
      name: "parts-benchmark",
      dependencies: [
        "Cryptography", "WireJSON", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"), nioCore, nioPosix,
      ], path: "Tests/Benchmarks/parts/Program", swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}

// The fuzzer needs libFuzzer's main function, so only Tests/Fuzz/run builds it.
if Context.environment["ATTRIBUTION_FUZZ"] != nil {
  package.products.append(.executable(name: "fuzz", targets: ["fuzz"]))
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Main",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
