extension String {
  /// Only A to Z change: for names that protocols compare so.
  package var asciiLowercased: String {
    String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
  }
}
