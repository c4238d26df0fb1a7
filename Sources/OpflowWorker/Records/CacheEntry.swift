package import OpflowBase
internal import OpflowPlan

// A cached result
// ===============
//
// One file: the contents of all outputs one after the other, then a list that describes them, then
// a last line that locates the list:
//
//   contents
//   KIND <TAB> MODE <TAB> SIZE <TAB> SHA-256 <TAB> NAME <LF>      for each content, in order
//   opflow-cache <TAB> VERSION <TAB> KEY <TAB> LENGTH OF THE LIST <TAB> SHA-256 OF THE LIST <LF>
//
// KIND is `f` for a file, `x` for an executable file, `d` for a folder, `l` for a symbolic link and
// `a` for a dangling one (the content is the link's text), `v` for a value and `o` for the task's
// output log. `t` is the file that a link leads to and that is not part of the result: only its
// SHA-256 counts, and SIZE is 0. MODE is octal, LENGTH has 16 hexadecimal digits. NAME is a path
// relative to the manifest's folder (of `t` that of the link), or a value's name, with the
// journal's escapes.
//
// The list comes last so that writing an entry reads the contents only once.

package struct CacheEntry: Equatable, Sendable {
  package static let version = 2

  package struct Item: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
      case file = 102  // f
      case executable = 120  // x
      case folder = 100  // d
      case link = 108  // l
      case danglingLink = 97  // a
      case target = 116  // t
      case value = 118  // v
      case output = 111  // o
    }

    package var kind: Kind
    package var mode: UInt32
    package var sizeBytes: Int64
    package var digest: SHA256.Digest
    /// A path relative to the manifest's folder, without `.`, `..` and empty parts; or a value's
    /// name.
    package var name: [UInt8]

    package init(
      kind: Kind, mode: UInt32, sizeBytes: Int64, digest: SHA256.Digest, name: [UInt8]
    ) {
      self.kind = kind
      self.mode = mode
      self.sizeBytes = sizeBytes
      self.digest = digest
      self.name = name
    }
  }

  package var items: [Item]

  package init(items: [Item]) { self.items = items }

  package func end(key: SHA256.Digest) -> [UInt8] {
    var list: [UInt8] = []
    for item in items {
      list.append(item.kind.rawValue)
      list += "\t\(String(item.mode, radix: 8))\t\(item.sizeBytes)\t\(item.digest)\t".utf8
      for byte in item.name {
        if let letter = Field.escapeLetter(byte) {
          list.append(Field.backslash)
          list.append(letter)
        } else {
          list.append(byte)
        }
      }
      list.append(Field.lineFeed)
    }
    let digest = SHA256.digest(of: list)
    let length = Hexadecimal.text(UInt64(list.count))
    list += "\(Self.lead)\(key)\t\(length)\t\(digest)\n".utf8
    return list
  }

  private static let lead = "opflow-cache\t\(version)\t"
  package static let footBytes = lead.utf8.count + 64 + 1 + 16 + 1 + 64 + 1

  /// A million names of about 200 bytes.
  private static let longestListBytes: UInt64 = 256 << 20

  package struct Foot {
    package var listBytes: Int
    var listDigest: SHA256.Digest

    /// - Parameter bytes: the last `footBytes` of the file.
    package init?(_ bytes: [UInt8], key: SHA256.Digest) {
      let lead = Array((CacheEntry.lead + "\(key)\t").utf8)
      guard bytes.count == CacheEntry.footBytes, bytes.starts(with: lead),
        bytes.last == Field.lineFeed, bytes[lead.count + 16] == Field.tab,
        let length = Hexadecimal.value(bytes[lead.count..<(lead.count + 16)]),
        length <= CacheEntry.longestListBytes
      else { return nil }
      let rest = Array(bytes[(lead.count + 17)..<(lead.count + 81)])
      guard let digest = rest.withUnsafeBytes({ SHA256.Digest($0) }) else { return nil }
      listBytes = Int(length)
      listDigest = digest
    }
  }

  /// Nil if the list is invalid or does not match the contents.
  ///
  /// - Parameter contentBytes: the length before the list.
  package init?(list: [UInt8], foot: Foot, contentBytes: Int64) {
    guard list.count == foot.listBytes, SHA256.digest(of: list) == foot.listDigest else {
      return nil
    }
    var items: [Item] = []
    var total: Int64 = 0
    var names: Set<[UInt8]> = []
    for line in list.split(separator: Field.lineFeed) {
      let fields = line.split(separator: Field.tab, omittingEmptySubsequences: false)
      guard fields.count == 5, fields[0].count == 1,
        let kind = Item.Kind(rawValue: fields[0][fields[0].startIndex]),
        let mode = UInt32(String(decoding: fields[1], as: UTF8.self), radix: 8), mode <= 0o777,
        let size = Field.number(fields[2], as: Int64.self), size >= 0,
        let digest = Array(fields[3]).withUnsafeBytes({ SHA256.Digest($0) }),
        let name = Array(fields[4]).withUnsafeBytes({ Field.unescaped($0) }),
        kind.isName(name), names.insert([kind.place] + name).inserted
      else { return nil }
      let (sum, isTooMuch) = total.addingReportingOverflow(size)
      if isTooMuch || (kind == .folder || kind == .target) && size > 0 { return nil }
      total = sum
      items.append(
        Item(kind: kind, mode: mode, sizeBytes: size, digest: digest, name: name))
    }
    guard total == contentBytes else { return nil }
    self.items = items
  }
}

extension CacheEntry.Item.Kind {
  /// Names are unique among paths, and among values.
  fileprivate var place: UInt8 {
    switch self {
    case .file, .executable, .folder, .link, .danglingLink: 0
    case .value: 1
    case .output: 2
    case .target: 3
    }
  }

  fileprivate func isName(_ name: [UInt8]) -> Bool {
    switch self {
    case .value: return ValueRules.isName(name)
    case .output: return name.isEmpty
    case .file, .executable, .folder, .link, .danglingLink, .target:
      if name.isEmpty || name.contains(0) { return false }
      return name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .allSatisfy { part in
          !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
        }
    }
  }
}
