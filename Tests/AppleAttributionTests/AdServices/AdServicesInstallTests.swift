import AppleAttribution
import TestSupport
import Testing
import WireJSON

@Suite("AdServices: several tokens of one install")
struct AdServicesInstallTests {
  func attribution(_ id: String, _ detail: InstallAttribution.Detail, _ createdAt: Int64) -> InstallAttribution {
    InstallAttribution(eventId: id, detail: detail, createdAt: createdAt)
  }

  @Test("the detailed record replaces the standard one, in any order")
  func detail() {
    let standard = attribution("s", .standard, 1)
    let detailed = attribution("d", .detailed, 2)
    #expect(InstallAttribution.joining(standard, to: nil) == .applied(standard))
    let expected = InstallAttribution(eventId: "d", detail: .detailed, createdAt: 2, supersedes: "s")
    #expect(InstallAttribution.joining(detailed, to: standard) == .applied(expected))
    #expect(InstallAttribution.joining(standard, to: detailed) == .superseded(by: "d"))
    // A later token without consent has no better record.
    #expect(InstallAttribution.joining(attribution("l", .standard, 9), to: detailed) == .superseded(by: "d"))
  }

  @Test("with equal detail the newer token's record counts, and a repeat changes nothing")
  func same() {
    let first = attribution("a", .standard, 5)
    #expect(InstallAttribution.joining(attribution("b", .standard, 4), to: first) == .superseded(by: "a"))
    guard case .applied(let second) = InstallAttribution.joining(attribution("b", .standard, 6), to: first) else {
      Issue.record("the younger one does not stand")
      return
    }
    #expect(second.supersedes == "a")
    #expect(InstallAttribution.joining(attribution("b", .standard, 6), to: second) == .alreadyApplied(second))
  }

  @Test("an attribution supersedes the outcomes without one, and these do not supersede it")
  func withoutAttribution() throws {
    let failed = attribution("f", .failed, 1)
    let organic = attribution("o", .organic, 2)
    let standard = attribution("s", .standard, 1)
    #expect(InstallAttribution.joining(failed, to: nil) == .applied(failed))
    for earlier in [failed, organic] {
      let expected = InstallAttribution(eventId: "s", detail: .standard, createdAt: 1, supersedes: earlier.eventId)
      #expect(InstallAttribution.joining(standard, to: earlier) == .applied(expected))
      #expect(InstallAttribution.joining(earlier, to: standard) == .superseded(by: "s"))
    }
    #expect(InstallAttribution.joining(attribution("late", .failed, 9), to: organic) == .superseded(by: "o"))
    let details = AdServicesOutcome.allCases.map { InstallAttribution.Detail($0, record: nil) }
    #expect(details == [.standard, .organic, nil, .failed, nil, .failed])
    let record = try AttributionRecord(["attribution": true, "orgId": 1, "clickDate": "2026-10-08T17:17Z"])
    #expect(InstallAttribution.Detail(.attributed, record: record) == .detailed)
  }

  @Test("in any order and with repeats, the newest of the most detailed records counts")
  func property() {
    var random = SeededRandom("attributions of an install")
    for _ in 0..<500 {
      let all = (0..<Int.random(in: 1...6, using: &random)).map { index in
        attribution("\(index)", InstallAttribution.Detail.allCases.randomElement(using: &random) ?? .failed, Int64(index))
      }
      var current: InstallAttribution?
      for new in (all + all.prefix(2)).shuffled(using: &random) {
        if case .applied(let next) = InstallAttribution.joining(new, to: current) { current = next }
      }
      let most = all.map(\.detail).max()
      let best = all.last { $0.detail == most }
      #expect(current?.eventId == best?.eventId)
    }
  }

  @Test("ids are named as far as names are configured, with every digit; a record from a development build is not named")
  func names() throws {
    let names = CampaignNames(
      organizations: [1_234_567_890: "org"], campaigns: [9_223_372_036_854_775_807: "Spring"], adGroups: [3: "women"],
      keywords: [4: "shoes"], ads: [5: "video"])
    let record = try AttributionRecord(
      ["attribution": true, "orgId": 1, "campaignId": 9_223_372_036_854_775_807, "adGroupId": 3, "adId": 5])
    #expect(names.names(of: record).map { "\($0.part)=\($0.name)" } == ["campaign=Spring", "adGroup=women", "ad=video"])
    let test = try AttributionRecord(
      ["attribution": true, "orgId": 1_234_567_890, "campaignId": 1_234_567_890, "adGroupId": 1_234_567_890])
    #expect(names.names(of: test).isEmpty)
    #expect(names.names(of: try AttributionRecord(["attribution": false, "adGroupId": 3])).isEmpty)
  }

  @Test("a device's errors have Apple's numbers; only an unsupported platform is final")
  func deviceErrors() {
    #expect(DeviceTokenError.allCases.map(\.rawValue) == [1, 2, 3])
    #expect(DeviceTokenError.allCases.map(\.mayBeTriedAgain) == [true, true, false])
    #expect(DeviceTokenError(rawValue: 0) == nil && DeviceTokenError(rawValue: 4) == nil)
  }
}
