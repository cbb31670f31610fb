/// A coarse conversion value of SKAdNetwork 4.0 or AdAttributionKit. A postback has it instead of a conversion value, never both, and Apple
/// does not sign it (``UnsignedValues``).
public enum CoarseConversionValue: String, Sendable, Hashable, CaseIterable { case low, medium, high }
