/// A possible answer of a rule. Its message depends on the customer's locale.
public struct RetentionOption: Sendable, Hashable {
  public let message: RetentionMessageChoice
  public let content: RetentionProposal.Content

  public init(message: RetentionMessageChoice, _ content: RetentionProposal.Content) throws(RequestRefusal) {
    self.message = message
    self.content = try RetentionProposal.checked(content)
  }
}

/// A rule of an app: its conditions, and the possible answers if they hold. The options are tried in order. The next one is used if the
/// message of an option is not approved, or its signature is not available in time.
public struct RetentionRule: Sendable, Hashable {
  public let name: String
  public let conditions: RetentionConditions
  /// The possible answers. If there are none, the App Store shows the default message.
  public let options: [RetentionOption]

  public init(name: String, conditions: RetentionConditions, options: [RetentionOption]) {
    self.name = name
    self.conditions = conditions
    self.options = options
  }
}

/// An app's rules for retention messages, which answer the App Store's realtime requests.
///
/// ``match(_:_:at:)`` returns the first rule that applies to a request, ``RetentionRule/proposals(for:isShown:)`` that rule's answers in
/// order. Ingest takes the first answer that it can finish (`RetentionResponder`), which signer may have to sign.
public struct RetentionRuleSet: Sendable, Hashable {
  public let rules: [RetentionRule]

  public init(_ rules: [RetentionRule]) { self.rules = rules }

  /// The result of matching the rules.
  public struct Match: Sendable, Hashable {
    /// Nil if no rule applies.
    public let rule: RetentionRule?
    /// The names of earlier rules that may apply, but need the history, which is unknown.
    public let undecided: [String]
  }

  /// Finds the first rule that applies. Pure: the same request and facts at the same time give the same rule.
  ///
  /// - Parameters:
  ///   - facts: nil if the history is unknown. Rules that need the history do not apply then.
  ///   - now: milliseconds since 1970.
  public func match(_ request: RealtimeRequest, _ facts: RetentionFacts?, at now: Int64) -> Match {
    var undecided: [String] = []
    for rule in rules {
      switch rule.conditions.check(request, facts, at: now) {
      case .yes: return Match(rule: rule, undecided: undecided)
      case .unknown: undecided.append(rule.name)
      case .no: continue
      }
    }
    return Match(rule: nil, undecided: undecided)
  }

  /// The customer's bucket in each experiment of the rules, by the experiment's name.
  public func experiments(of request: RealtimeRequest) -> [String: Int] {
    var buckets: [String: Int] = [:]
    for rule in rules {
      guard let name = rule.conditions.experiment?.experiment else { continue }
      buckets[name] = ExperimentShare.bucket(of: request.originalTransactionId, in: name)
    }
    return buckets
  }
}

extension RetentionRule {
  /// The rule's answers for a request, in order, and the identifiers of the messages that were left out because they may not be shown.
  ///
  /// - Parameter isShown: returns true if Apple shows the message in an answer with this content (``RetentionMessageList/shows(_:in:)``).
  public func proposals(
    for request: RealtimeRequest, isShown: (String, RetentionProposal.Content) -> Bool
  ) -> (usable: [RetentionProposal], unapproved: [String]) {
    var (usable, unapproved): ([RetentionProposal], [String]) = ([], [])
    for option in options {
      guard let id = option.message.identifier(for: request.locale) else { continue }
      if isShown(id, option.content) {
        usable.append(RetentionProposal(known: id, option.content))
      } else if !unapproved.contains(id) {
        unapproved.append(id)
      }
    }
    return (usable, unapproved)
  }
}
