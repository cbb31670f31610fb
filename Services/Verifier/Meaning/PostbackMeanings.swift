import AppleAttribution
import ServiceRuntime
import WireJSON

/// The meanings of conversion values and source identifiers in postbacks, as this deployment configures them for its apps and ad networks.
struct PostbackMeanings: Sendable {
  /// The conversion schemas, by the advertised app's id.
  private let conversions: [Int64: ConversionSchemas]
  /// The ids of the apps that count development postbacks.
  private let countingDevelopment: Set<Int64>
  /// The names of the parts of source identifiers, by ad network in lower case.
  private let sources: [String: SourceIdentifierNames]

  /// Throws if the configured meanings are invalid.
  init(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
    var conversions: [Int64: ConversionSchemas] = [:]
    countingDevelopment = Set(configuration.apps.filter(\.acceptsDevelopmentPostbacks).compactMap(\.appAppleId))
    for app in configuration.apps where !app.conversionValues.isEmpty {
      guard let appId = app.appAppleId else {
        throw ConfigurationError(Self.app(app.conversionValues[0].place) + ".appAppleId", "is missing; postbacks name the app by this id")
      }
      var versions: [ConversionSchema] = []
      for settings in app.conversionValues {
        do throws(FieldError) { versions.append(try Self.schema(settings)) } catch {
          throw ConfigurationError("\(settings.place).\(error.field)", error.reason)
        }
      }
      do throws(FieldError) { conversions[appId] = try ConversionSchemas(versions) } catch {
        throw ConfigurationError(Self.app(app.conversionValues[0].place) + ".conversionValues\(error.field)", error.reason)
      }
    }
    var sources: [String: SourceIdentifierNames] = [:]
    for (id, settings) in configuration.sourceIdentifiers {
      guard sources[id.asciiLowercased] == nil else {
        throw ConfigurationError(settings.place, "occurs twice; ad networks are compared without regard to case")
      }
      do throws(FieldError) {
        sources[id.asciiLowercased] = try SourceIdentifierNames(
          [.campaign: settings.campaigns, .adGroup: settings.adGroups, .creative: settings.creatives],
          campaignIds: settings.campaignIds)
      } catch {
        throw ConfigurationError("\(settings.place).\(error.field)", error.reason)
      }
    }
    self.conversions = conversions
    self.sources = sources
  }

  /// The meaning of a postback's conversion value, as it is written into the event; nil for an app without a schema. For a postback of an
  /// ad that did not win it is `unknown`, because the value is not signed and is credited to nobody. For a development postback it is
  /// `development`, unless the app counts such postbacks.
  func conversion(
    app: Int64, environment: PostbackEnvironment, isWinning: Bool, fine: Int?, coarse: CoarseConversionValue?, window: Int?,
    receivedAt: Int64
  ) -> JSONObject? {
    guard let schemas = conversions[app] else { return nil }
    if environment == .development, !countingDevelopment.contains(app) { return ConversionReading.development.json }
    return schemas.reading(
      fine: isWinning ? fine : nil, coarse: isWinning ? coarse : nil, window: window ?? 0, receivedAt: receivedAt
    ).json
  }

  /// The meaning of a postback's source identifier or campaign id, as it is written into the event; nil for an ad network without names.
  func source(adNetworkId: String, sourceIdentifier: String?, campaignId: Int?) -> JSONObject? {
    guard let names = sources[adNetworkId.asciiLowercased] else { return nil }
    if let sourceIdentifier { return names.json(sourceIdentifier: sourceIdentifier) }
    return campaignId.map { names.json(campaignId: $0) }
  }

  /// The path of the app in the configuration: `apps[0]` for `apps[0].conversionValues[1]`.
  private static func app(_ path: String) -> String { path.prefix { $0 != "]" } + "]" }

  private static func schema(_ settings: ConversionSettings) throws(FieldError) -> ConversionSchema {
    var fine: [(ClosedRange<Int>, ConversionMeaning)] = []
    for (index, entry) in settings.fine.enumerated() {
      fine.append((entry.values, try meaning(entry.event, entry.revenue, "fine[\(index)]")))
    }
    var coarse: [(CoarseConversionValue, windows: [Int], ConversionMeaning)] = []
    for (index, entry) in settings.coarse.enumerated() {
      guard let value = CoarseConversionValue(rawValue: entry.value) else {
        throw FieldError(field: "coarse[\(index)].value", reason: "must be low, medium or high")
      }
      coarse.append((value, entry.windows, try meaning(entry.event, entry.revenue, "coarse[\(index)]")))
    }
    return try ConversionSchema(version: settings.version, effectiveFrom: settings.effectiveFrom, fine: fine, coarse: coarse)
  }

  private static func meaning(_ event: String, _ revenue: ConversionSettings.Revenue?, _ path: String) throws(FieldError)
    -> ConversionMeaning
  {
    do throws(FieldError) {
      var range: ConversionMeaning.Revenue?
      if let revenue { range = try .init(minimum: revenue.minimum, maximum: revenue.maximum, currency: revenue.currency) }
      return try ConversionMeaning(event: event, revenue: range)
    } catch {
      throw FieldError(field: path + (error.field == "event" ? ".event" : ".revenue.\(error.field)"), reason: error.reason)
    }
  }
}
