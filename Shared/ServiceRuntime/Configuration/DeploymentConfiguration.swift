import AttributionQueue

/// The configuration file, which all services share. ``load(path:)`` reads it, each property is a section of it, and the types of most
/// sections are in the folder Settings. Each service checks the rules of what only it uses, in its own configuration type.
///
/// `Documentation/configuration.md` explains the settings; environment variables are in ``ServiceVariables``.
public struct DeploymentConfiguration: Sendable {
  /// The source of a private key.
  public enum KeySource: Sendable, Hashable {
    /// A PEM file, and the file with its passphrase if it is encrypted.
    case file(path: String, passphraseFile: String?)
    /// A key that stays in a PKCS#11 token: its URI (RFC 7512), and the file with the token's PIN.
    case token(uri: String, pinFile: String?)
  }

  /// A private key of an ad network.
  public struct Key: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable { case pending, active, retiring, revoked }
    public let id: String
    public let source: KeySource
    public let state: State
    /// When the key was created, milliseconds since 1970; nil if `created` is missing.
    public let created: Int64?
    /// The key's path in the configuration file, such as `adNetworks[0].keys[1]`, for error messages.
    public let place: String
  }

  public struct AdNetwork: Sendable, Hashable {
    public let id: String
    public let keys: [Key]
  }

  /// Keys that replace Apple's published keys for verifying postbacks, each as a SubjectPublicKeyInfo in Base64.
  public struct AppleKeys: Sendable, Hashable {
    /// Keys for SKAdNetwork 1.0 and 2.0.
    public let p192: [String]
    /// Keys for SKAdNetwork 2.1 and later.
    public let p256: [String]
    /// Keys for AdAttributionKit, by the `kid` of the postback's JWS.
    public let kids: [String: [String]]
  }

  /// A private key from App Store Connect, with the ids that a token made with it names.
  public struct AppStoreKey: Sendable, Hashable {
    /// Nil for a key for offers without a configured issuer.
    public let issuerId: String?
    public let keyId: String
    public let source: KeySource
    /// When the key was created, milliseconds since 1970; nil if `created` is missing.
    public let created: Int64?
    /// The key's path in the configuration file, for error messages.
    public let place: String
  }

  /// The automatic recovery of an app's missed notifications. The defaults apply to every app with a key for the App Store Server API.
  public struct Recovery: Sendable, Hashable {
    /// The interval at which notifications that Apple could not deliver are recovered. Nil turns off these recoveries and the daily one.
    public var schedule: Duration? = .seconds(3600)
    /// How far back the recoveries at this interval search.
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
    /// Nil for an app that has neither a key for the App Store Server API nor a section `recovery`.
    public let recovery: Recovery?
    /// The name of a strategy of `consentRouting`.
    public let consentStrategy: String
    /// All versions of the app's conversion schema.
    public let conversionValues: [ConversionSettings]
    /// True if development postbacks also count as conversions of the app. Any device in Developer Mode can make them for any app.
    public let acceptsDevelopmentPostbacks: Bool
    /// Nil if the App Store's requests for retention messages are not answered.
    public let retention: AppRetentionSettings?
  }

  /// An internal system that may call methods of the services.
  public struct Client: Sendable, Hashable {
    public let name: String
    /// SHA-256 digests of the client's tokens. There are several while a token is being replaced.
    public let tokenDigests: [[UInt8]]
    /// The URI names that a client certificate may have to identify this client.
    public var certificateNames: [String] = []
    /// The full names of the methods that the client may call. A `*` at the end stands for any text.
    public let allow: [String]
    /// The rate limit for each single method; nil for no limit.
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
  /// The path of the PKCS#11 module (a shared library) for keys in tokens.
  public var pkcs11Module: String?
  public var appleKeys: AppleKeys?
  /// True if SKAdNetwork postbacks that were signed with a development key are accepted, always as development postbacks.
  public var acceptsDevelopmentSKAdNetwork = false
  /// The files of trusted root certificates, DER or PEM. If there is none, Apple Root CA - G3 is trusted.
  public var rootCertificates: [String] = []
  /// True if certificates must have consistent key identifiers, as Apple's have. False is for test chains without them.
  public var strictCertificates = true
  /// The policy for asking OCSP responders about certificates: `off`, `whenReachable` or `required`.
  public var revocation = "off"
  /// True if data made by Xcode, which is not signed by Apple, is accepted for an app that has the data's environment (`Xcode` or
  /// `LocalTesting`). For an app that is not configured, the caller must ask for that environment.
  public var acceptsXcodeData = false
  /// How long late notifications are waited for before a gap in a subscription's history is published.
  public var gapPatience: Duration = .seconds(900)
  /// The rule that decides when silence about a subscription is a gap.
  public var silence = SilenceSettings()
  /// The maximum number of transaction ids that are returned for one receipt (`ExtractTransactionIds`).
  public var receiptTransactionIds = 20_000
  public var migrations = MigrationSettings()
  public var apps: [App] = []
  /// The meanings of source identifiers, by ad network.
  public var sourceIdentifiers: [String: SourceIdentifierSettings] = [:]
  /// What events of postbacks contain.
  public var postbacks = PostbackSettings()
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
  /// The settings of verifier's console.
  public var console = ConsoleSettings()
  /// A URL strategy of `consentRouting`: the domains to which sessions are sent.
  public struct ConsentStrategySettings: Sendable, Hashable {
    /// The domains, in the order in which they are tried.
    public let domains: [String]
    /// True if the data must stay in one region; nil if the strategy's name decides that.
    public let isDataResidency: Bool?
  }

  /// The strategies of `consentRouting`, by name.
  public var consentStrategies: [String: ConsentStrategySettings] = [:]
  /// The longest time that a session waits for the user's answer to the tracking prompt; nil for the time that SDKs use.
  public var consentMaxWait: Duration?
  /// How long a session that no host accepts is retried before it becomes a dead letter.
  public var consentPatience: Duration = .seconds(3 * 86_400)
  /// The names of fields that are removed from a session without consent, in addition to the built-in ones.
  public var consentRemovedFields: [String] = []
  /// Unknown keys of the file.
  public var unknownKeys: [UnknownKey] = []

  public init() {}

  /// The configured app with that bundle id.
  public func app(_ bundleId: String) -> App? { apps.first { $0.bundleId == bundleId } }
}
