/// The number of decimal places that the App Store accepts in prices of a currency (Specifying prices for Advanced Commerce SKUs).
enum CurrencyDecimals {
  private static let none: Set<String> = [
    "CLP", "COP", "DKK", "HKD", "HUF", "IDR", "INR", "JPY", "KRW", "KZT", "MXN", "NGN", "NOK", "PHP", "PKR", "RUB", "SEK", "THB", "TWD",
    "TZS", "VND",
  ]
  private static let two: Set<String> = [
    "AED", "AUD", "BGN", "BRL", "CAD", "CHF", "CNY", "CZK", "EGP", "EUR", "GBP", "ILS", "MYR", "NZD", "PEN", "PLN", "QAR", "RON", "SAR",
    "SGD", "TRY", "USD", "ZAR",
  ]

  /// The smallest step of a price, in thousandths of a unit; nil for a currency that is not in Apple's table.
  static func step(of currency: String) -> Int64? {
    if none.contains(currency) { return 1000 }
    if two.contains(currency) { return 10 }
    return nil
  }
}
