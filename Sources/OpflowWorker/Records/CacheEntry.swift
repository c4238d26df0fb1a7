package import OpflowBase
internal import OpflowPlan

// A cached result
// ===============
//
// One file: the contents of all outputs, then a list that describes them, then a last line that
// locates the list:
//
//   contents
//   KIND <TAB> MODE <TAB> SIZE <TAB> SHA-256 <TAB> NAME <LF>      for each content, in order
//   opflow-cache <TAB> VERSION <TAB> KEY <TAB> LENGTH OF THE LIST <TAB> SHA-256 OF THE LIST <LF>
//
// - KIND: `f` file, `x` executable file, `d` folder, `l` symbolic link, `a` dangling link (the
//   content is the link's text), `v` value, `o` the task's output log, `t` the file behind a link
//   if it is not part of the result: only its SHA-256 counts, and SIZE is 0.
// - MODE is octal, LENGTH has 16 hexadecimal digits.
// - NAME, with the journal's escapes, is a path relative to the manifest's folder (for `t` the path
//   of the link), or a value's name.
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
    /// Files have no set-ID bits.
    package var mode: UInt32
    /// Permissions, set-group-ID and the sticky bit (inode(7)).
    static let folderModes: UInt32 = 0o3777
    package var sizeBytes: Int64
    package var digest: SHA256.Digest
    /// Relative to the manifest's folder, without `.`, `..` and empty parts; or a value's name.
    package var name: [UInt8]

    package init(kind: Kind, mode: UInt32, sizeBytes: Int64, digest: SHA256.Digest, name: [UInt8]) {
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

    /// `bytes` are the last `footBytes` of the file.
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

  /// nil if the list is invalid or does not match the contents.
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
        let mode = UInt32(String(decoding: fields[1], as: UTF8.self), radix: 8),
        mode <= Item.folderModes,
        let size = Field.number(fields[2], as: Int64.self), size >= 0,
        let digest = Array(fields[3]).withUnsafeBytes({ SHA256.Digest($0) }),
        let name = Array(fields[4]).withUnsafeBytes({ Field.unescaped($0) }),
        kind.isName(name), names.insert([kind.place] + name).inserted
      else { return nil }
      let (sum, isTooMuch) = total.addingReportingOverflow(size)
      if isTooMuch || (kind == .folder || kind == .target) && size > 0 { return nil }
      total = sum
      items.append(Item(kind: kind, mode: mode, sizeBytes: size, digest: digest, name: name))
    }
    guard total == contentBytes else { return nil }
    self.items = items
  }
}

extension CacheEntry.Item.Kind {
  /// A number for each space of names in which names are unique.
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

/// The key of a cached result: everything that it may depend on, with the task's name, which
/// commands can read, but without the project's folder.
package enum CacheKey {
  /// `seen` has the inputs before the start, by `ContentHash.strong`. `keepsValues`: other tasks
  /// read its values.
  package static func of(
    _ seen: SuccessRecord, name: UnsafeRawBufferPointer, keepsValues: Bool, architecture: String
  ) -> SHA256.Digest {
    let hash = SHA256()
    func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { hash.add($0) } }
    // The length keeps different lists apart.
    func add(_ text: some Collection<UInt8>) {
      add(UInt64(text.count))
      add(Array(text))
    }
    func add(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { hash.add($0) } }
    func add(_ content: PlanKey) {
      add(content.high)
      add(content.low)
    }
    // Excludes older entries, which lack the targets of links.
    add("opflow cache \(CacheEntry.version) with targets".utf8)
    add(architecture.utf8)
    add(name)
    add(keepsValues ? 1 : 0)
    add(seen.terms.fingerprint)
    add(seen.terms.declaration)
    add(seen.terms.with == nil ? 0 : 1)
    add(seen.terms.with ?? 0)
    add(seen.terms.needs)
    for files in [seen.inputs, seen.links] {
      add(UInt64(files.count))
      for file in files {
        add(file.path)
        add(UInt64(file.kind.rawValue))
        add(file.content)
      }
    }
    add(UInt64(seen.readings.count))
    for reading in seen.readings {
      add(UInt64(reading.kind.rawValue))
      add(reading.name)
      add(reading.content)
    }
    return hash.digest
  }

  package static var architecture: String {
    #if arch(x86_64)
      "x86_64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other"
    #endif
  }
}

/// A session's cache, in a file in the run's folder for workers.
package enum CacheSetting: Equatable, Sendable {
  case own(limitBytes: Int64)
  /// Shared by several state folders.
  case shared(path: String, mayWrite: Bool, limitBytes: Int64)

  package static let fileName = "cache"
  /// Where a run assembles cached results. A crash leaves files there.
  package static let stageName = "stage"
  package static let standardLimitBytes: Int64 = 10 << 30

  /// Enough for a path of 4,096 bytes (PATH_MAX).
  package static let longestBytes = 8_192

  /// Without the file there is no cache.
  package var file: [UInt8] {
    switch self {
    case .own(let limit): Array("own\t\(limit)\n".utf8)
    case .shared(let path, let mayWrite, let limit):
      Array("\(mayWrite ? "write" : "read")\t\(limit)\t\(path)".utf8)
    }
  }

  package init?(file: [UInt8]) {
    let fields = file.split(separator: Field.tab, maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count >= 2 else { return nil }
    let number = fields[1].prefix { $0 != Field.lineFeed }
    guard let limit = Field.number(number, as: Int64.self), limit >= 0 else { return nil }
    switch String(decoding: fields[0], as: UTF8.self) {
    case "own" where fields.count == 2: self = .own(limitBytes: limit)
    case "read" where fields.count == 3:
      self = .shared(
        path: String(decoding: fields[2], as: UTF8.self), mayWrite: false, limitBytes: limit)
    case "write" where fields.count == 3:
      self = .shared(
        path: String(decoding: fields[2], as: UTF8.self), mayWrite: true, limitBytes: limit)
    default: return nil
    }
  }
}
