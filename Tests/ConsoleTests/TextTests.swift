import AttributionProtocol
import Testing

@testable import Console

@Suite struct TextTests {
  @Test(arguments: [
    ("the endpoint answered 503", "the endpoint answered 503"),
    ("of 6D92078A-8246-4BA4-AE5B-76104861E7DC it said", "of 6D9207… it said"),
    ("token eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl was", "token eyJhbG… was"),
    ("0123456789abcdef0123456789abcdef", "012345…"), ("a\nb\u{0}c", "a b c"),
    ("its worker ended 3 times without finishing it", "its worker ended 3 times without finishing it"),
    ("the notification-recovery-service is not-to-be-had", "the notification-recovery-service is not-to-be-had"),
  ])
  func `Free text shows no token and no advertising identifier`(text: String, shown: String) { #expect(Redaction.text(text) == shown) }

  @Test(arguments: [
    ("https://hooks.example.com/services/T000/secret?key=1", "https://hooks.example.com/…"), ("https://example.com", "https://example.com"),
    ("https://user:password@example.com:8443/x", "https://example.com:8443/…"), ("nonsense", "…"), ("https://a?token=b", "https://a/…"),
  ])
  func `Only the host of an endpoint's address is shown`(url: String, shown: String) { #expect(Redaction.withoutPath(url) == shown) }

  @Test func `Numbers, shares and ages are short and correct`() {
    #expect(
      DisplayFormat.count(0) == "0" && DisplayFormat.count(999) == "999" && DisplayFormat.count(1000) == "1,000"
        && DisplayFormat.count(12_345_678) == "12,345,678")
    #expect(
      DisplayFormat.short(999) == "999" && DisplayFormat.short(1500) == "1.5k" && DisplayFormat.short(20_000) == "20k"
        && DisplayFormat.short(2_000_000) == "2M")
    #expect(DisplayFormat.share(0, of: 0) == "0 %" && DisplayFormat.share(1, of: 3) == "33.3 %" && DisplayFormat.share(1, of: 2) == "50 %")
    #expect(
      DisplayFormat.share(1, of: 100_000) == "< 0.1 %" && DisplayFormat.share(99_999, of: 100_000) == "> 99.9 %"
        && DisplayFormat.share(5, of: 5) == "100 %")
    #expect(
      DisplayFormat.age(seconds: 0.4) == "0 s" && DisplayFormat.age(seconds: 59) == "59 s" && DisplayFormat.age(seconds: 61) == "1 min 1 s")
    #expect(
      DisplayFormat.age(seconds: 7500) == "2 h 5 min" && DisplayFormat.age(seconds: 86_400) == "1 d"
        && DisplayFormat.age(seconds: .nan) == "0 s")
    let time = Timestamp(millisecondsSince1970: 1_764_063_612_345)
    #expect(
      DisplayFormat.time(time) == "2025-11-25 09:40:12" && DisplayFormat.clock(time) == "09:40" && DisplayFormat.day(time) == "25 Nov")
    #expect(Moment(time, now: 1_764_063_672_000).distance == "59 s ago")
  }
}
