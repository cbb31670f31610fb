import Testing
import WireJSON

@testable import AppStore

@Suite("A request for a retention message")
struct RealtimeRequestTests {
  @Test("a body contains the signed request, and an invalid body is refused with the field's name")
  func body() throws {
    #expect(try RealtimeRequestBody(parsing: Array(#"{"signedPayload":"a.b.c","more":1}"#.utf8)).signedPayload == "a.b.c")
    let refused: [(String, String)] = [
      ("", ""), ("[]", ""), ("{", ""), ("{}", "signedPayload"), (#"{"signedPayload":5}"#, "signedPayload"),
      (#"{"signedPayload":""}"#, "signedPayload"), (#"{"signedPayload":null}"#, "signedPayload"),
    ]
    for (text, field) in refused {
      #expect(throws: RequestRefusal.self, "\(text)") { try RealtimeRequestBody(parsing: Array(text.utf8)) }
      do { _ = try RealtimeRequestBody(parsing: Array(text.utf8)) } catch { #expect(error.field == field, "\(text)") }
    }
  }

  @Test("a payload is parsed, with its identifier in lower case and its locale in any spelling")
  func payload() throws {
    let request = try RetentionFixture.request(["userLocale": "zh_Hant-HK"])
    #expect(request.requestIdentifier == "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
    #expect(request.naturalKey == "retention:Sandbox:3db5c98d-8acf-4e29-831e-8e1f82f9f6e9")
    #expect(request.locale?.selfAndPrefixes.map(\.description) == ["zh-hant-hk", "zh-hant", "zh"])
    // An invalid locale is no reason to refuse data that Apple has signed.
    #expect(try RetentionFixture.request(["userLocale": "?"]).locale == nil)
  }

  @Test("only the purchase, the identifier and the environment are needed", arguments: [.null, "", .array([])] as [JSONValue])
  func optional(value: JSONValue) throws {
    let request = try RetentionFixture.request(["appAppleId": value, "productId": value, "userLocale": value, "signedDate": value])
    #expect(request.appAppleId == nil && request.productId.isEmpty && request.userLocale.isEmpty && request.locale == nil)
    #expect(request.signedDate == RetentionFixture.now + 7)
  }

  @Test(
    "a payload without a field that is needed is refused with the field's name",
    arguments: ["originalTransactionId", "requestIdentifier", "environment"])
  func fields(field: String) {
    for value in [JSONValue.null, "", .array([]), -1, "a\u{0}b", .string(String(repeating: "x", count: 300))] {
      do {
        _ = try RetentionFixture.request([field: value])
        Issue.record("\(field) \(value) was taken")
      } catch {
        #expect((error as? RequestRefusal)?.field == field)
      }
    }
  }

  @Test("a locale belongs to its language, not to another one with the same beginning")
  func locales() {
    #expect(LocaleTag("en-US")!.isWithin(LocaleTag("EN")!) && LocaleTag("en")!.isWithin(LocaleTag("en")!))
    #expect(!LocaleTag("eng")!.isWithin(LocaleTag("en")!) && !LocaleTag("en")!.isWithin(LocaleTag("en-US")!))
    for text in ["", "-", "en-", "-en", "e n", "1en", "en-toolongpart", String(repeating: "a-", count: 40)] {
      #expect(LocaleTag(text) == nil, "\(text)")
    }
  }
}
