import AppleAttribution
import ServiceRuntime
import WireJSON

/// The meanings of postbacks for the apps and ad networks of this deployment: conversion values and source identifiers.
struct PostbackMeanings: Sendable {
  /// The conversion schemas, by the advertised app's id.
  private let conversions: [Int64: ConversionSchemas]
  /// The ids of the apps that count development postbacks.
  private let countingDevelopment: Set<Int64>
  /// The names of source identifiers, by ad network.
  private let sources: [String: SourceIdentifierNames]

  init(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
    var conversions: [Int64: ConversionSchemas] = [:]
    countingDevelopment = Set(configuration.apps.filter(\.acceptsDevelopmentPostbacks).compactMap(\.appAppleId))
    for app in configuration.apps where !app.conversionValues.isEmpty {
      guard let number = app.appAppleId else {
        throw ConfigurationError(Self.app(app.conversionValues[0].place) + ".appAppleId", "is missing; postbacks name the app by it")
      }
      var versions: [ConversionSchema] = []
      for settings in app.conversionValues {
        do throws(FieldError) { versions.append(try Self.schema(settings)) } catch {
          throw ConfigurationError("\(settings.place).\(error.field)", error.reason)
        }
      }
      do throws(FieldError) { conversions[number] = try ConversionSchemas(versions) } catch {
        throw ConfigurationError(Self.app(app.conversionValues[0].place) + ".conversionValues\(error.field)", error.reason)
      }
    }
    var sources: [String: SourceIdentifierNames] = [:]
    for (id, settings) in configuration.sourceIdentifiers {
      do throws(FieldError) {
        sources[id] = try SourceIdentifierNames(
          [.campaign: settings.campaigns, .adGroup: settings.adGroups, .creative: settings.creatives],
          campaignIds: settings.campaignIds)
      } catch {
        throw ConfigurationError("\(settings.place).\(error.field)", error.reason)
      }
    }
    self.conversions = conversions
    self.sources = sources
  }

  /// The meaning of the conversion value; nil for an app without a schema. A postback of an ad that did not win has none, because its value
  /// is not signed and is credited to nobody. Nor has a development postback, unless the app counts those.
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

  /// The meaning of the source identifier; nil for an ad network without names.
  func source(adNetworkId: String, sourceIdentifier: String?, campaignId: Int?) -> JSONObject? {
    guard let names = sources[adNetworkId] else { return nil }
    if let sourceIdentifier { return names.json(sourceIdentifier: sourceIdentifier) }
    return campaignId.map { names.json(campaignId: $0) }
  }

  /// `apps[0]` of `apps[0].conversionValues[1]`.
  private static func app(_ place: String) -> String { place.prefix { $0 != "]" } + "]" }

  private static func schema(_ settings: ConversionSettings) throws(FieldError) -> ConversionSchema {
    var fine: [(ClosedRange<Int>, ConversionMeaning)] = []
    for (index, entry) in settings.fine.enumerated() {
      fine.append((entry.values, try meaning(entry.event, entry.revenue, "fine[\(index)]")))
    }
    var coarse: [(CoarseConversionValue, windows: [Int], ConversionMeaning)] = []
    for (index, entry) in settings.coarse.enumerated() {
      guard let word = CoarseConversionValue(rawValue: entry.value) else {
        throw FieldError(field: "coarse[\(index)].value", reason: "must be low, medium or high")
      }
      coarse.append((word, entry.windows, try meaning(entry.event, entry.revenue, "coarse[\(index)]")))
    }
    return try ConversionSchema(version: settings.version, effectiveFrom: settings.effectiveFrom, fine: fine, coarse: coarse)
  }

  private static func meaning(_ event: String, _ revenue: ConversionSettings.Revenue?, _ place: String) throws(FieldError)
    -> ConversionMeaning
  {
    do throws(FieldError) {
      var worth: ConversionMeaning.Revenue?
      if let revenue { worth = try .init(minimum: revenue.minimum, maximum: revenue.maximum, currency: revenue.currency) }
      return try ConversionMeaning(event: event, revenue: worth)
    } catch {
      throw FieldError(field: place + (error.field == "event" ? ".event" : ".revenue.\(error.field)"), reason: error.reason)
    }
  }
}
