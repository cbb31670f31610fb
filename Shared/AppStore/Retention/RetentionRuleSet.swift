/// A possible answer whose message is not chosen yet.
public struct RetentionOption: Sendable, Hashable {
  public let message: RetentionMessageChoice
  public let content: RetentionProposal.Content

  public init(message: RetentionMessageChoice, _ content: RetentionProposal.Content) throws(RequestRefusal) {
    self.message = message
    self.content = try RetentionProposal.checked(content)
  }
}

/// A rule: conditions and options. The options are tried in order: the next one is used if a message is not approved or a signature is not
/// available in time.
public struct RetentionRule: Sendable, Hashable {
  public let name: String
  public let conditions: RetentionConditions
  /// If empty, the App Store shows the default message.
  public let options: [RetentionOption]

  public init(name: String, conditions: RetentionConditions, options: [RetentionOption]) {
    self.name = name
    self.conditions = conditions
    self.options = options
  }
}

/// An app's rules. The first one that applies decides.
public struct RetentionRuleSet: Sendable, Hashable {
  public let rules: [RetentionRule]

  public init(_ rules: [RetentionRule]) { self.rules = rules }

  /// The result of matching the rules.
  public struct Match: Sendable, Hashable {
    /// Nil if no rule applies.
    public let rule: RetentionRule?
    /// Earlier rules that might apply, but need the history, which is unknown.
    public let undecided: [String]
  }

  /// Pure: the same request and facts at the same time match the same rule.
  ///
  /// - Parameters:
  ///   - facts: nil if the history is unknown. Rules that need it do not apply then.
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

  /// The customer's buckets in the rules' experiments, by name.
  public func experiments(of request: RealtimeRequest) -> [String: Int] {
    var places: [String: Int] = [:]
    for rule in rules {
      guard let name = rule.conditions.experiment?.experiment else { continue }
      places[name] = ExperimentShare.bucket(of: request.originalTransactionId, in: name)
    }
    return places
  }
}

extension RetentionRule {
  /// The possible answers in order, and the messages that may not be shown.
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
