import AttributionQueue

/// The YAML file that all services share.
public struct DeploymentConfiguration: Sendable {
  /// Where a private key is.
  public enum KeySource: Sendable, Hashable {
    /// A PEM file, and the file of its passphrase where it is encrypted.
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
    /// Where in the file it stands, for errors.
    public let place: String
  }

  public struct AdNetwork: Sendable, Hashable {
    public let id: String
    public let keys: [Key]
  }

  /// What Apple's postbacks are checked with in place of Apple's published keys; several may stand beside each other.
  public struct AppleKeys: Sendable, Hashable {
    /// SubjectPublicKeyInfo, Base64.
    public let p192: [String]
    public let p256: [String]
    public let kids: [String: [String]]
  }

  /// A key of App Store Connect and who it belongs to.
  public struct AppStoreKey: Sendable, Hashable {
    public let issuerId: String?
    public let keyId: String
    public let source: KeySource
    public let place: String
  }

  public struct Recovery: Sendable, Hashable {
    public let schedule: Duration?
    public let lookback: Duration
    /// Whether an outage starts a recovery of its window by itself.
    public let outages: Bool
  }

  public struct App: Sendable, Hashable {
    public let bundleId: String
    public let appAppleId: Int64?
    public let environments: [String]
    public let appStoreServer: AppStoreKey?
    public let offers: AppStoreKey?
    public let recovery: Recovery?
    /// A strategy of `consentRouting`.
    public let consentStrategy: String
    /// Every version of what the app means by its conversion values.
    public let conversionValues: [ConversionSettings]
    /// Whether postbacks of development, which any device in Developer Mode can make of any app, are read as its conversions too.
    public let acceptsDevelopmentPostbacks: Bool
    /// Nil: the App Store's requests for retention messages are not answered.
    public let retention: AppRetentionSettings?
  }

  /// An internal system that may call.
  public struct Client: Sendable, Hashable {
    public let name: String
    /// 32 bytes each; several for rotation.
    public let tokenDigests: [[UInt8]]
    /// URI names of its certificates, any of which stands for it.
    public var certificateNames: [String] = []
    /// Full method names; `*` at the end stands for any rest.
    public let allow: [String]
    /// Of each method; nil for no bound.
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
  /// The PKCS#11 module through which keys in tokens are reached.
  public var pkcs11Module: String?
  public var appleKeys: AppleKeys?
  /// Whether SKAdNetwork postbacks signed with a development key are believed, always as development ones.
  public var acceptsDevelopmentSKAdNetwork = false
  /// DER or PEM files; empty: Apple's own roots.
  public var rootCertificates: [String] = []
  /// Whether certificates have to have key identifiers, as Apple's do.
  public var strictCertificates = true
  /// Whether responders are asked about certificates: `off`, `whenReachable` or `required`.
  public var revocation = "off"
  /// Whether data that Xcode made, which nobody signed, is taken where the app has its environment, or is not configured and a caller
  /// asks for it.
  public var acceptsXcodeData = false
  /// How long stragglers are waited for before a gap in a subscription's life is published.
  public var gapPatience: Duration = .seconds(900)
  /// When silence about a subscription is a gap.
  public var silence = SilenceSettings()
  /// The most places of transaction ids that are answered for one receipt (`ExtractTransactionIds`).
  public var receiptTransactionIds = 20_000
  public var migrations = MigrationSettings()
  public var apps: [App] = []
  /// By ad network: what its source identifiers stand for.
  public var sourceIdentifiers: [String: SourceIdentifierSettings] = [:]
  public var clients: [Client] = []
  public var limits = Limits()
  /// Who may ask the public port, and how often.
  public var edge = PublicEdge()
  public var recovery = RecoverySettings()
  public var queue = QueueConfiguration()
  public var adServices = AdServicesSettings()
  /// How events are pushed.
  public var push = PushSettings()
  /// Which traces are recorded, and where they go.
  public var traces = TraceSettings()
  /// How requests for retention messages are answered.
  public var retention = RetentionSettings()
  /// How the sites of web ads are judged.
  public var webAds = WebAdSettings()
  /// The pages that verifier shows people.
  public var console = ConsoleSettings()
  /// A URL strategy of the deployment's own.
  public struct ConsentStrategySettings: Sendable, Hashable {
    /// In the order they are tried.
    public let domains: [String]
    /// Whether the data has to stay in one region; nil: as the strategy's name says.
    public let isDataResidency: Bool?
  }

  /// By the strategy's name.
  public var consentStrategies: [String: ConsentStrategySettings] = [:]
  /// The longest that a session waits for the user's answer; nil: as long as SDKs do.
  public var consentMaximumWait: Duration?
  /// How long a session is tried that no host takes, before it is a dead letter.
  public var consentPatience: Duration = .seconds(3 * 86_400)
  /// Names removed without consent beside the built-in ones.
  public var consentRemovedFields: [String] = []
  /// Keys in the file that nobody reads.
  public var unknownKeys: [UnknownKey] = []

  public init() {}

  /// The configured app of that bundle id.
  public func app(_ bundleId: String) -> App? { apps.first { $0.bundleId == bundleId } }
}
