extension String {
  /// Lower-cases only A to Z, as protocols compare names.
  package var asciiLowercased: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
