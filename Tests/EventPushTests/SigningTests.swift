import Testing

@testable import EventPush

@Suite("Signing")
struct SigningTests {
  @Test("a known message has the signature of the reference libraries")
  func vector() throws {
    let secret = try #require(WebhookSecret(text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signer = WebhookSigner([secret])
    #expect(
      signer.signature(id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("two secrets sign at the same time, the newest first")
  func rotation() throws {
    let (old, new) = (WebhookSecret.make(), WebhookSecret.make())
    let both = WebhookSigner([new, old]).signature(id: "a", timestamp: 1, body: [1, 2])
    let each = [new, old].map { WebhookSigner([$0]).signature(id: "a", timestamp: 1, body: [1, 2]) }
    #expect(both == each.joined(separator: " "))
    #expect(old != new)
  }

  @Test(
    "a secret is whsec_ and Base64 of 24 to 64 bytes",
    arguments: ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAA", "whsec_!"])
  func malformed(_ text: String) {
    #expect(WebhookSecret(text: text) == nil)
    let made = WebhookSecret.make()
    #expect(WebhookSecret(text: made.text) == made)
  }
}

@Suite("The request of an event")
struct PushMessageTests {
  private func made(_ event: PushedEvent, _ form: PushForm) -> PushMessage? {
    PushMessage(event, form: form, signer: WebhookSigner([.make()]), timestamp: 17)
  }

  @Test("a webhook's id has no full stop, and is the event's id otherwise")
  func ids() {
    #expect(PushMessage.webhookID("skadnetwork:example123.skadnetwork:6aafb7a5-0:1") == "skadnetwork:example123%2Eskadnetwork:6aafb7a5-0:1")
    #expect(PushMessage.webhookID("a\r\nb/c") == "a%0D%0Ab%2Fc")
  }

  @Test("binary mode has the attributes in headers and the data's own bytes as its body")
  func binary() throws {
    let message = try #require(made(Sample.event(1, subject: "a b\u{e9}"), .binary))
    #expect(message.body == Array(#"{"a": [1, 2]}"#.utf8))
    let headers = Dictionary(uniqueKeysWithValues: message.headers.map { ($0.name, $0.value) })
    #expect(headers["ce-subject"] == "a%20b%C3%A9")
    #expect(headers["ce-id"] == "e1-0" && headers["ce-specversion"] == "1.0" && headers["Content-Type"] == "application/json")
    #expect(headers["ce-data"] == nil && headers["webhook-timestamp"] == "17")
  }

  @Test("structured mode posts the event unchanged, and the original form posts Apple's bytes, or nothing")
  func others() throws {
    let event = Sample.event(1)
    #expect(made(event, .structured)?.body == event.json)
    #expect(made(event, .original) == nil)
    let original = PushedEvent.Original(body: [0, 255], contentType: "text/x\r\ny")
    let message = try #require(made(Sample.event(1, original: original), .original))
    #expect(message.body == [0, 255])
    #expect(message.headers.first { $0.name == "Content-Type" }?.value == "text/xy", "no header ends another's line")
  }
}
