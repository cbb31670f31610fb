// swift-tools-version:6.2
import PackageDescription

let package = Package(
  name: "consumer",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "apple-attribution-services", path: "../..")],
  targets: [
    .executableTarget(
      name: "consumer", dependencies: [.product(name: "AttributionClient", package: "apple-attribution-services")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
