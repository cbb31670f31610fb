import AttributionQueue

/// The YAML file that all services share.
public struct DeploymentConfiguration: Sendable {
  /// The source of a private key.
  public enum KeySource: Sendable, Hashable {
    /// A PEM file, and the file of its passphrase if it is encrypted.
    case file(path: String, passphraseFile: String?)
    /// A key that stays in a PKCS#11 token, by its URI (RFC 7512), and the file of the token's PIN.
    case token(uri: String, pinFile: String?)
  }

  /// A private key of an ad network.
  public struct Key: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable { case pending, active, retiring, revoked }
    public let id: String
    public let source: KeySource
    public let state: State
    /// When the key was created, milliseconds since 1970; nil if the file does not say.
    public let created: Int64?
    /// The path in the configuration file, for errors.
    public let place: String
  }

  public struct AdNetwork: Sendable, Hashable {
    public let id: String
    public let keys: [Key]
  }

  /// Keys that replace Apple's published keys for postbacks; there may be several of each kind.
  public struct AppleKeys: Sendable, Hashable {
    /// SubjectPublicKeyInfo, Base64.
    public let p192: [String]
    public let p256: [String]
    public let kids: [String: [String]]
  }

  /// A key of App Store Connect, and its issuer.
  public struct AppStoreKey: Sendable, Hashable {
    public let issuerId: String?
    public let keyId: String
    public let source: KeySource
    /// When the key was created, milliseconds since 1970; nil if the file does not say.
    public let created: Int64?
    public let place: String
  }

  /// The automatic recovery of an app's missed notifications. The defaults apply to every app with a key for the App Store Server API.
  public struct Recovery: Sendable, Hashable {
    /// The interval of the recoveries of failed deliveries; nil: neither these nor the daily recovery.
    public var schedule: Duration? = .seconds(3600)
    /// How far back these recoveries search.
    public var lookback: Duration = .seconds(86_400)
    /// True if an outage automatically starts a recovery of its window.
    public var outages = true
  }

  public struct App: Sendable, Hashable {
    public let bundleId: String
    public let appAppleId: Int64?
    public let environments: [String]
    public let appStoreServer: AppStoreKey?
    /// A second key for the App Store Server API, with which a call is repeated if Apple refuses the first one.
    public let otherAppStoreServer: AppStoreKey?
    public let offers: AppStoreKey?
    /// Nil for an app without a key for the App Store Server API, unless it is configured.
    public let recovery: Recovery?
    /// A strategy of `consentRouting`.
    public let consentStrategy: String
    /// All versions of the app's conversion schema.
    public let conversionValues: [ConversionSettings]
    /// True if development postbacks count as conversions of the app too. Any device in Developer Mode can make them for any app.
    public let acceptsDevelopmentPostbacks: Bool
    /// Nil if the App Store's requests for retention messages are not answered.
    public let retention: AppRetentionSettings?
  }

  /// An internal system that may call.
  public struct Client: Sendable, Hashable {
    public let name: String
    /// SHA-256 digests of the client's tokens; several during a rotation.
    public let tokenDigests: [[UInt8]]
    /// URI names of the client's certificates; any of them identifies it.
    public var certificateNames: [String] = []
    /// Full method names; a `*` at the end matches any rest.
    public let allow: [String]
    /// The rate of each method; nil for no limit.
    public var rate: RequestRate?

    public init(
      name: String, tokenDigests: [[UInt8]], certificateNames: [String] = [], allow: [String], rate: RequestRate? = nil
    ) {
      self.name = name
      self.tokenDigests = tokenDigests
      self.certificateNames = certificateNames
      self.allow = allow
      self.rate = rate
    }
  }

  public var adNetworks: [AdNetwork] = []
  /// The PKCS#11 module for keys in tokens.
  public var pkcs11Module: String?
  public var appleKeys: AppleKeys?
  /// True if SKAdNetwork postbacks that were signed with a development key are accepted, always as development postbacks.
  public var acceptsDevelopmentSKAdNetwork = false
  /// DER or PEM files; empty: Apple's own roots.
  public var rootCertificates: [String] = []
  /// True if certificates must have key identifiers, as Apple's have.
  public var strictCertificates = true
  /// The policy for asking OCSP responders about certificates: `off`, `whenReachable` or `required`.
  public var revocation = "off"
  /// True if data made by Xcode, which is not signed, is accepted if the app has its environment, or if the app is not configured and a
  /// caller asks for it.
  public var acceptsXcodeData = false
  /// How long late notifications are waited for before a gap in a subscription's history is published.
  public var gapPatience: Duration = .seconds(900)
  /// The rule by which silence about a subscription is a gap.
  public var silence = SilenceSettings()
  /// The greatest number of transaction ids that are returned for one receipt (`ExtractTransactionIds`).
  public var receiptTransactionIds = 20_000
  public var migrations = MigrationSettings()
  public var apps: [App] = []
  /// The meanings of source identifiers, by ad network.
  public var sourceIdentifiers: [String: SourceIdentifierSettings] = [:]
  public var clients: [Client] = []
  public var limits = Limits()
  /// The access rules and rate limits of the public port.
  public var edge = EdgeSettings()
  public var recovery = RecoverySettings()
  public var queue = QueueConfiguration()
  public var adServices = AdServicesSettings()
  /// The settings for pushing events.
  public var push = PushSettings()
  /// The rule for who may read `/metrics`.
  public var metrics = MetricsSettings()
  /// The settings for recording and exporting traces.
  public var traces = TraceSettings()
  /// The settings for answering requests for retention messages.
  public var retention = RetentionSettings()
  /// The rules for sites of web ads.
  public var webAds = WebAdSettings()
  /// The console of verifier.
  public var console = ConsoleSettings()
  /// A URL strategy that the deployment defines.
  public struct ConsentStrategySettings: Sendable, Hashable {
    /// The domains, in the order in which they are tried.
    public let domains: [String]
    /// True if the data must stay in one region; nil: by the strategy's name.
    public let isDataResidency: Bool?
  }

  /// The strategies, by name.
  public var consentStrategies: [String: ConsentStrategySettings] = [:]
  /// The longest time that a session waits for the user's answer; nil: the time that SDKs use.
  public var consentMaxWait: Duration?
  /// How long a session that no host accepts is retried before it becomes a dead letter.
  public var consentPatience: Duration = .seconds(3 * 86_400)
  /// Names of fields that are removed without consent, in addition to the built-in ones.
  public var consentRemovedFields: [String] = []
  /// Unknown keys of the file.
  public var unknownKeys: [UnknownKey] = []

  public init() {}

  /// The configured app of that bundle id.
  public func app(_ bundleId: String) -> App? { apps.first { $0.bundleId == bundleId } }
}
