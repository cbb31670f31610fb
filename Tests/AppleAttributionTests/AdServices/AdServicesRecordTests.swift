import AppleAttribution
import Testing
import WireJSON

@Suite("AdServices record")
struct AdServicesRecordTests {
  func record(_ text: String) throws -> AttributionRecord { try AttributionRecord(parsing: Array(text.utf8)) }

  @Test("every field is typed, and unknown fields are preserved")
  func fields() throws {
    let found = try record(
      """
      {"attribution":true,"orgId":9223372036854775807,"campaignId":2,"adGroupId":3,"keywordId":4,"adId":5,"creativeSetId":6,
      "conversionType":"Download","claimType":"Click","clickDate":"2026-10-08T17:17Z","countryOrRegion":"US",
      "supplyPlacement":"APPSTORE_SEARCH_TAB","newIn2027":{"a":[1]}}
      """)
    #expect(found.orgId == .max)
    #expect([found.campaignId, found.adGroupId, found.keywordId, found.adId, found.creativeSetId] == [2, 3, 4, 5, 6])
    #expect(found.conversionType == .download)
    #expect(found.claimType == .click)
    #expect(found.detail == .detailed)
    #expect(found.countryOrRegion == "US")
    #expect(found.supplyPlacement == "APPSTORE_SEARCH_TAB")
    #expect(found.raw["newIn2027"] == ["a": [1]])
    #expect(found.normalized["orgId"] == .integer(Int64.max))
    #expect(found.normalized["newIn2027"] == nil)
  }

  @Test(
    "old and new spellings of the conversion type are one",
    arguments: [
      ("Download", "Download"), ("newdownloads", "Download"), ("DOWNLOAD", "Download"), ("Redownload", "Redownload"),
      ("redownloads", "Redownload"), ("PreOrder", "PreOrder"), ("preorder", "PreOrder"), ("Gift", "Gift"),
    ])
  func conversionType(_ written: String, _ read: String) throws {
    let found = try record(#"{"attribution":true,"conversionType":"\#(written)"}"#)
    #expect(found.conversionType?.text == read)
    #expect(found.normalized["conversionType"] == .string(read))
    #expect(found.raw["conversionType"] == .string(written))
  }

  @Test("a record with an impression date is detailed, one without any date is standard")
  func detail() throws {
    #expect(try record(#"{"attribution":true,"impressionDate":"2026-10-08T17:17Z"}"#).detail == .detailed)
    #expect(try record(#"{"attribution":true,"claimType":"Impression"}"#).detail == .standard)
    #expect(try record(#"{"attribution":true,"clickDate":null}"#).detail == .standard)
  }

  @Test("the placeholder of development builds is recognised, and a similar record is not")
  func placeholder() throws {
    let placeholder = #"{"attribution":true,"orgId":1234567890,"campaignId":1234567890,"adGroupId":1234567890}"#
    #expect(try record(placeholder).outcome == .test)
    #expect(try record(placeholder.replacing("campaignId\":1234567890", with: "campaignId\":1")).outcome == .attributed)
    #expect(try record(#"{"attribution":false}"#).outcome == .organic)
  }

  @Test(
    "a member of another type is left out and named, and the record counts",
    arguments: [
      ("orgId", "1.5"), ("campaignId", "true"), ("adGroupId", #""542317095""#), ("keywordId", #""""#), ("adId", "99999999999999999999"),
      ("creativeSetId", "{}"), ("conversionType", "1"), ("claimType", "[]"), ("clickDate", "20261008"), ("impressionDate", "false"),
      ("countryOrRegion", "{}"), ("supplyPlacement", "0"),
    ])
  func unusable(_ name: String, _ value: String) throws {
    let found = try record(#"{"attribution":true,"\#(name)":\#(value),"new":1}"#)
    #expect(found.outcome == .attributed && found.unusable == [name])
    #expect(found.normalized == ["attribution": true])
    #expect(JSONValue.object(found.raw).serializedString == #"{"attribution":true,"\#(name)":\#(value),"new":1}"#)
    #expect(AdServicesResponse(status: 200, body: Array(JSONValue.object(found.raw).serialized)) == .record(found))
  }

  @Test("several members of other types are named in order, and null is no value")
  func severalUnusable() throws {
    let found = try record(#"{"orgId":"","attribution":true,"adId":null,"keywordId":"x","campaignId":542370539.0,"clickDate":1}"#)
    #expect(found.unusable == ["clickDate", "keywordId", "orgId"])
    #expect(found.campaignId == 542_370_539 && found.adId == nil)
  }

  @Test(
    "an invalid record is malformed, and the field is named",
    arguments: [
      ("", ""), ("[]", ""), ("{}", "attribution"), (#"{"attribution":"true"}"#, "attribution"), (#"{"attribution":1}"#, "attribution"),
    ])
  func malformed(_ body: String, _ field: String) {
    #expect { try record(body) } throws: { ($0 as? FieldError)?.field == field }
    guard case .tryLater(.malformed) = AdServicesResponse(status: 200, body: Array(body.utf8)) else {
      Issue.record("\(body) was taken for an answer")
      return
    }
  }

  @Test("each status has its meaning", arguments: [201, 204, 301, 401, 403, 415, 429, 500, 502, 503, 504])
  func statuses(_ status: Int) {
    #expect(AdServicesResponse(status: status, body: []) == .tryLater(.status(status)))
    #expect(AdServicesResponse(status: 400, body: []) == .invalidToken)
    #expect(AdServicesResponse(status: 404, body: []) == .notFound)
  }
}
