import AttributionProtocol
import NIOHTTP1
import Testing

@testable import Console
@testable import ServiceRuntime

@Suite struct PagesTests {
  private static let evil = "<img src=x onerror=alert(1)>\"'"

  @Test func `An unknown user is redirected to sign in, and from there back to the page`() async throws {
    let console = try ConsoleFixture([])
    let response = try #require(await console.response("GET", "/console/queues?x=1"))
    #expect(response.status == 303 && response.headers.first(name: "location") == "/console/sign-in?next=%2Fconsole%2Fqueues%3Fx%3D1")
    let door = try #require(await console.response("GET", "/console/sign-in?next=%2Fconsole%2Fqueues"))
    #expect(door.status == 200 && String(decoding: door.body, as: UTF8.self).contains(#"name="next" value="/console/queues""#))
    #expect(await console.response("GET", "/consoles") == nil)
    #expect(await console.response("GET", "/") == nil)
    let wrong = try #require(await console.response("GET", "/console", ["authorization": "Bearer wrong"]))
    #expect(wrong.status == 303)
  }

  @Test(arguments: [
    "https://evil.example/", "//evil.example", "/\\evil.example", "/console//evil", "/other", "/console/sign-out", "/console/\r\nx: y",
  ])
  func `Redirections lead only to the console`(next: String) throws {
    #expect(try ConsoleFixture([]).pages.destination(next) == "/console")
  }

  @Test func `Only reading is possible, and signing out requires a form`() async throws {
    let console = try ConsoleFixture([])
    for (method, path) in [("POST", "/console"), ("PUT", "/console/queues"), ("GET", "/console/sign-out"), ("POST", "/console/style.css")] {
      #expect(await console.response(method, path)?.status == 405, "\(method) \(path)")
    }
  }

  @Test func `A form without the secret of its cookie starts no session`() async throws {
    let console = try ConsoleFixture([])
    let form: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded", "host": "a"]
    let bare = try #require(await console.response("POST", "/console/sign-in", form, body: "token=\(ConsoleFixture.token)"))
    #expect(bare.status == 403 && !bare.headers[canonicalForm: "set-cookie"].contains { $0.hasPrefix("console=") })
    // The sign-in page has both a cookie and a form secret. An unknown token is refused with a message.
    let door = try #require(await console.response("GET", "/console/sign-in"))
    let cookie = try #require(door.headers.first(name: "set-cookie")).prefix { $0 != ";" }
    let html = String(decoding: door.body, as: UTF8.self)
    let start = try #require(html.firstRange(of: "name=\"form\" value=\"")).upperBound
    let token = html[start...].prefix { $0 != "\"" }
    var headers = form
    headers.add(name: "cookie", value: String(cookie))
    let wrong = try #require(await console.response("POST", "/console/sign-in", headers, body: "form=\(token)&token=wrong"))
    #expect(wrong.status == 403 && String(decoding: wrong.body, as: UTF8.self).contains("No caller has this token."))
    headers.add(name: "origin", value: "https://evil.example")
    let foreign = try #require(await console.response("POST", "/console/sign-in", headers, body: "form=\(token)&token=wrong"))
    #expect(String(decoding: foreign.body, as: UTF8.self).contains("too old"))
  }

  @Test func `While Redis is unavailable, sessions cannot be looked up, and the page says so`() async throws {
    let console = try ConsoleFixture([])
    let cookie = "console=" + String(repeating: "0", count: 64)
    let response = try #require(await console.response("GET", "/console", ["cookie": cookie]))
    #expect(response.status == 503 && String(decoding: response.body, as: UTF8.self).contains("Redis does not answer"))
  }

  @Test func `Static files need no session, and are sent again only if they have changed`() async throws {
    let console = try ConsoleFixture([])
    for (path, type) in [("style.css", "text/css"), ("console.js", "text/javascript"), ("icon.svg", "image/svg+xml")] {
      let response = try #require(await console.response("GET", "/console/\(path)"))
      #expect(response.status == 200 && response.headers.first(name: "content-type")?.hasPrefix(type) == true && !response.body.isEmpty)
      let tag = try #require(response.headers.first(name: "etag"))
      let again = try #require(await console.response("GET", "/console/\(path)", ["if-none-match": tag]))
      #expect(again.status == 304 && again.body.isEmpty)
      #expect(response.headers.contains(name: "content-security-policy"))
    }
  }

  @Test func `A user sees what the caller may read, and a message for the rest`() async throws {
    let queues = ListQueuesResponse(queues: [QueueState(name: "intake", depth: 7, oldestAgeSeconds: 2)])
    let console = try ConsoleFixture(
      [Fixed(QueuesService.ListQueues.self, queues)], allow: ["attribution.queues.v1.QueuesService/ListQueues"])
    let overview = await console.page("/console")
    #expect(overview.status == 200 && overview.html.contains("Waiting") && !overview.html.contains("Feed backlog"))
    #expect(overview.html.contains(#"href="/console/queues""#) && !overview.html.contains(#"href="/console/keys""#))
    let keys = await console.page("/console/deliveries")
    #expect(keys.html.contains("you may not call GetDeliveryCounts") && !keys.html.contains("<svg viewBox=\"0 0 6"))
  }

  @Test func `A service that is not configured or does not answer is reported in a message`() async throws {
    let without = try await ConsoleFixture([]).page("/console/recovery")
    #expect(without.status == 200 && without.html.contains("Set ATTRIBUTION_NOTIFICATION_RECOVERY_URL."))
    let services = ConsoleServices(signer: ConsoleFixture.unreachable, recovery: nil)
    let away = try await ConsoleFixture([], services: services).page("/console/keys")
    #expect(away.status == 200 && away.html.contains("signer does not answer"))
  }

  /// Lists three dead letters, one per page.
  private struct ThreeLetters: RPCHandler {
    typealias Method = QueuesService.ListDeadLetters

    func handle(_ request: ListDeadLettersRequest, _ context: RPCContext) async throws(RPCError) -> ListDeadLettersResponse {
      let number = request.pageToken == "intake:1-1-1" ? 2 : request.pageToken == "intake:2-1-1" ? 3 : 1
      guard request.pageToken == nil || number > 1 else { throw .invalidArgument(field: "pageToken", "is none of ours") }
      return ListDeadLettersResponse(
        deadLetters: [DeadLetter(id: "letter \(number)", queue: "intake", kind: "session")],
        nextPageToken: number < 3 ? "intake:\(number)-1-1" : nil)
    }
  }

  @Test func `A long list of dead letters has pages`() async throws {
    let console = try ConsoleFixture([ThreeLetters()])
    var path = "/console/dead-letters?queue=intake"
    for number in 1...3 {
      let html = await console.page(path).html
      #expect(html.contains("letter \(number)") && html.contains("Back to the first page") == (number > 1), "\(html)")
      path = "/console/dead-letters?queue=intake&after=intake%3A\(number)-1-1"
      #expect(html.contains(path.replacing("&", with: "&amp;")) == (number < 3))
    }
    let wrong = await console.page("/console/dead-letters?after=%3Cscript%3E")
    #expect(wrong.status == 200 && wrong.html.contains("is none of ours") && !wrong.html.contains("<script>"))
  }

  @Test func `Queues are plotted for every minute of the last hour`() async throws {
    func moment(_ ago: Int64, _ queues: [QueueState]) -> QueueMoment {
      QueueMoment(start: Timestamp(millisecondsSince1970: (ConsoleFixture.now / 60_000 - ago) * 60_000), queues: queues)
    }
    let console = try ConsoleFixture([
      Fixed(
        QueuesService.GetQueueHistory.self,
        GetQueueHistoryResponse(moments: [
          moment(59, [QueueState(name: "intake", depth: 4321, oldestAgeSeconds: 77.9), QueueState(name: "tokens")]),
          moment(0, [QueueState(name: "intake", depth: 12)]),
        ]))
    ])
    let html = await console.page("/console/queues").html
    #expect(html.contains("plot-ready-intake") && html.contains("plot-age-intake") && !html.contains("plot-ready-tokens"), "\(html)")
    #expect(html.contains("<b>12</b> now") && html.contains("4,321 now</title>") && html.contains("77 s now</title>"), "\(html)")
  }

  @Test func `The gaps of any app can be selected`() async throws {
    let apps = (1...60).map { "com.example.app\($0)" }
    let services = ConsoleServices(signer: nil, recovery: ConsoleFixture.unreachable, apps: apps)
    let page = try await ConsoleFixture([], services: services).page("/console/app-store?state=suspected&app=com.example.app60")
    #expect(page.status == 200 && page.html.contains("notification-recovery does not answer"))
    #expect(
      page.html.contains(#"<option value="com.example.app60" selected>"#) && page.html.contains(#"<option value="com.example.app1">"#))
    #expect(page.html.contains(#"href="/console/app-store?state=recovered&amp;app=com.example.app60""#))
    let one = try await ConsoleFixture([], services: ConsoleServices(signer: nil, recovery: nil, apps: ["a"])).page(
      "/console/app-store?app=b")
    #expect(one.status == 200 && !one.html.contains("<select name=\"app\">"))
  }

  @Test(arguments: [
    "/console", "/console/queues", "/console/subscriptions", "/console/dead-letters", "/console/deliveries", "/console/values",
    "/console/app-store?transaction=%3Cimg", "/console/values?app=%22%3E%3Cimg&network=%3Cimg%20src=x",
  ])
  func `Hostile names and texts are shown as text`(path: String) async throws {
    let evil = Self.evil
    let time = Timestamp(millisecondsSince1970: ConsoleFixture.now)
    let console = try ConsoleFixture([
      Fixed(QueuesService.ListQueues.self, ListQueuesResponse(queues: [QueueState(name: evil, depth: 1, dead: 2, oldestAgeSeconds: 500)])),
      Fixed(
        QueuesService.ListDeadLetters.self,
        ListDeadLettersResponse(deadLetters: [
          DeadLetter(id: evil, queue: evil, kind: evil, attempts: 1, diedAt: time, lastError: evil, history: [evil])
        ])),
      Fixed(
        EventsService.ListSubscriptions.self,
        ListSubscriptionsResponse(subscriptions: [
          Subscription(
            name: evil, types: [evil], backlog: 5, oldestUnacknowledgedAgeSeconds: 900, push: PushEndpoint(url: "https://a/" + evil),
            endpointStatus: EndpointStatus(state: evil, reason: evil, lastError: evil), dropped: 3)
        ])),
      Fixed(
        VerifierService.GetDeliveryCounts.self,
        GetDeliveryCountsResponse(periods: [
          DeliveryPeriod(
            start: time,
            counts: [
              DeliveryCount(kind: evil, verdict: evil, reason: evil, count: 3),
              DeliveryCount(kind: evil, verdict: "rejected", reason: evil, count: 3),
            ])
        ])),
      Fixed(
        VerifierService.GetValueCounts.self,
        GetValueCountsResponse(
          conversions: [
            ConversionCount(appAppleId: 5, fineValue: 3, count: 1), ConversionCount(appAppleId: 5, coarseValue: evil, count: 1),
          ],
          sources: [SourceCount(adNetworkId: evil, sourceIdentifier: evil, count: 1)],
          notifications: [NotificationCount(bundleId: evil, notificationType: evil, count: 2)])),
      Fixed(VerifierService.GetSubscriptionState.self, GetSubscriptionStateResponse(state: evil, productId: evil)),
    ])
    let page = await console.page(path)
    #expect(page.status == 200 && !page.html.contains("<img src=x") && !page.html.contains("onerror=alert(1)>\""), "\(page.html)")
    #expect(page.html.contains("&lt;img") && page.html.contains("&lt;reader&gt;"))
  }

  /// Returns the only dead letter.
  private struct OneLetter: RPCHandler {
    typealias Method = QueuesService.GetDeadLetter
    let letter: DeadLetter

    func handle(_ request: GetDeadLetterRequest, _ context: RPCContext) async throws(RPCError) -> GetDeadLetterResponse {
      guard request.id == letter.id, request.queue == letter.queue else { throw RPCError(.notFound, "no dead letter has this id") }
      return GetDeadLetterResponse(deadLetter: letter)
    }
  }

  @Test func `Tokens, advertising identifiers and endpoints' secrets do not appear`() async throws {
    let secrets = [
      "6D92078A-8246-4BA4-AE5B-76104861E7DC", "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJlc2lnbmF0dXJl", "T000-hook-secret",
    ]
    let time = Timestamp(millisecondsSince1970: ConsoleFixture.now)
    let id = "017-" + String(repeating: "a", count: 32)
    let error = "idfa \(secrets[0]) and token \(secrets[1])"
    let letter = DeadLetter(
      id: id, queue: "sessions", kind: "session", attempts: 2, receivedAt: time, diedAt: time, lastError: error,
      history: ["1764063610000 \(error)", "1764063612000 \(error)"])
    let console = try ConsoleFixture([
      Fixed(QueuesService.ListDeadLetters.self, ListDeadLettersResponse(deadLetters: [letter])), OneLetter(letter: letter),
      Fixed(
        EventsService.ListSubscriptions.self,
        ListSubscriptionsResponse(subscriptions: [
          Subscription(name: "a", push: PushEndpoint(url: "https://hooks.example.com/\(secrets[2])?key=\(secrets[1])"))
        ])),
    ])
    for path in ["/console/dead-letters", "/console/dead-letters/sessions/\(id)", "/console/subscriptions"] {
      let page = await console.page(path)
      #expect(page.status == 200)
      for secret in secrets { #expect(!page.html.contains(secret), "\(path)") }
    }
    let story = await console.page("/console/dead-letters/sessions/\(id)").html
    // The final failure is shown once, although the history ends with it too.
    #expect(story.ranges(of: "Failed").count == 1 && story.ranges(of: "Given up").count == 1 && story.contains("Received"))
    let gone = await console.page("/console/dead-letters/sessions/018-" + String(repeating: "a", count: 32))
    #expect(gone.status == 404 && gone.html.contains("This dead letter does not exist"))
    #expect(await console.page("/console/dead-letters/none/\(id)").status == 404)
    #expect(await console.page("/console/nothing").status == 404)
  }

  @Test(arguments: ["/console/keys", "/console/subscriptions"])
  func `Each view counts for the user's rate: of another service's method, and of a response in the cache`(path: String) async throws {
    let subscriptions = Fixed(EventsService.ListSubscriptions.self, .init())
    let services = ConsoleServices(signer: ConsoleFixture.unreachable, recovery: nil)
    let console = try ConsoleFixture([subscriptions], rate: RequestRate(perSecond: 0.001, burst: 2), services: services)
    var limited: [Bool] = []
    for _ in 0..<3 { limited.append(await console.page(path).html.contains("because its limit is reached")) }
    #expect(limited == [false, false, true])
  }
}
