/// Sizes as people read them.
enum SizeText {
  private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// `512MiB`, `1.5GiB`.
  static func text(bytes: UInt64) -> String {
    var unit = 0
    var whole = bytes
    var rest: UInt64 = 0
    while whole >= 1024, unit + 1 < units.count {
      rest = whole % 1024
      whole /= 1024
      unit += 1
    }
    let tenth = rest * 10 / 1024
    return tenth == 0 ? "\(whole)\(units[unit])" : "\(whole).\(tenth)\(units[unit])"
  }
}
