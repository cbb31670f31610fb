import WireJSON

/// What a payload says about the ATT status. Whatever cannot be read is no consent, and ends one.
public struct ATTStatusReport: Sendable, Hashable {
  /// ``ATTStatus/unavailable`` if the payload reports none, one that cannot be read, or several that contradict each other.
  public let status: ATTStatus
  /// False if the payload reports no status: the field is absent or null.
  public let isStated: Bool
  /// Why the status cannot be read; nil if it was read, or if there is none.
  public let fault: FieldError?

  private static let name = TextVariants.folded("attStatus".utf8)

  /// Reads the status of a payload: `attStatus`, `att_status` or another spelling of the name. All that are present must agree. If they are
  /// consent, a status that is nested in the payload, such as that of an event in a batch, must agree too.
  public init(in payload: JSONObject) {
    var statuses: Set<ATTStatus> = []
    var fault: FieldError?
    for member in payload.members where Self.isName(member.key) && !member.value.isNull {
      if let status = ATTStatus(member.value) {
        statuses.insert(status)
      } else {
        fault = fault ?? FieldError(field: member.key, reason: ATTStatus.expected)
      }
    }
    self.fault = fault
    isStated = fault != nil || !statuses.isEmpty
    guard fault == nil, statuses.count == 1, let status = statuses.first,
      !status.isConsent || !payload.members.contains(where: { Self.contradictsConsent($0.value) })
    else {
      self.status = .unavailable
      return
    }
    self.status = status
  }

  /// Reads the status of a query; nil if it has none.
  public init(_ text: String?, field: String = "attStatus") {
    let read = text.flatMap { ATTStatus($0) }
    status = read ?? .unavailable
    isStated = text != nil
    fault = text != nil && read == nil ? FieldError(field: field, reason: ATTStatus.expected) : nil
  }

  /// True if the status cannot be read, or is a code that Apple has not published.
  public var isUnknown: Bool {
    if case .unknown = status { true } else { fault != nil }
  }

  /// True for the names of the field, in any letter case and with any separators.
  public static func isName(_ name: String) -> Bool { TextVariants.folded(name.utf8) == Self.name }

  /// True if a value contains a status that is not consent.
  private static func contradictsConsent(_ value: JSONValue) -> Bool {
    switch value {
    case .object(let object):
      object.members.contains { member in
        isName(member.key) && !member.value.isNull && ATTStatus(member.value) != .authorized || contradictsConsent(member.value)
      }
    case .array(let elements): elements.contains { contradictsConsent($0) }
    default: false
    }
  }
}
