package import OpflowBase

/// A compiled plan, used in place: a mapped file or bytes in memory.
///
/// A plan file is untrusted: errors are thrown, never trapped. Opening checks header, section table
/// and, on request, the checksum; `validate()` checks the rest. A worker relies on bounds checks
/// instead.
package final class Plan: @unchecked Sendable {
  // SAFETY: @unchecked, because the bytes in use are never written after init and freed in deinit
  // only.

  package let taskCount: Int
  package let firstTaskCount: Int
  package let key: PlanKey
  package let byteCount: Int

  package let name: Column<TextRef>
  let kindByte: Column<UInt8>
  let flagBits: Column<UInt16>
  package let priority: Column<Int16>
  let policyIndex: Column<UInt32>
  package let demand: Column<UInt32>
  let fingerprint: Column<Fingerprint>
  let record: Column<PlanRecord>
  let written: PlanEdges
  /// Includes edges to generated matrix tasks.
  let edges: PlanEdges
  let instanceNeeds: InstanceNeeds?
  let nameTable: Column<Int32>
  let listOffsets: Column<UInt32>
  let listItems: Column<TextRef>
  let environmentOffsets: Column<UInt32>
  let environmentItems: Column<EnvironmentItem>
  let environments: Column<EnvironmentEntry>
  let demandOffsets: Column<UInt32>
  let demandItems: Column<DemandItem>
  let codeOffsets: Column<UInt32>
  let codeItems: Column<Int32>
  let policies: Column<TaskPolicy>
  package let resources: Column<ResourceEntry>
  /// Real paths; the manifest comes first.
  package let files: Column<TextRef>
  let environmentNames: Column<TextRef>
  let arena: Column<UInt8>
  package let manifest: ManifestEntry
  let downloads: Column<DownloadEntry>
  let secretEntries: Column<SecretEntry>
  let globs: Column<GlobEntry>
  package let matrixGroups: Column<MatrixGroupEntry>
  let matrixGroupValues: Column<TextRef>
  let lateOffsets: Column<UInt32>
  let lateItems: Column<LateItem>
  let stepOffsets: Column<UInt32>
  let stepItems: Column<LateStep>
  let declarations: Column<DeclarationEntry>
  let declaredOffsets: Column<UInt32>
  let declaredItems: Column<DeclaredItem>
  let services: Column<ServiceEntry>
  /// Dependencies of a segment that is not yet in a plan, in task order.
  package let outerNeeds: Column<OuterNeed>
  /// Per task: the last link in `PlanEdges.outerEdges`, from 1. Empty without room.
  let lastOuterEdge: Column<UInt32>
  package let hasRoom: Bool

  let sections: PlanSections

  private let release: @Sendable (UnsafeRawBufferPointer) -> Void
  private let bytes: UnsafeRawBufferPointer

  /// `bytes` is aligned to 8. The bytes in use must not change until `release` gets them, also
  /// after an error; a plan with room may grow behind them. `limit` is the number of tasks to use.
  package init(
    bytes: UnsafeRawBufferPointer, checksum verifyChecksum: Bool, limit: Int? = nil,
    release: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
  ) throws(PlanError) {
    let sections: PlanSections
    do throws(PlanError) {
      sections = try PlanSections(bytes: bytes, verifyChecksum: verifyChecksum, limit: limit)
      self.name = try sections.column(.taskName, count: sections.taskCount)
      self.kindByte = try sections.column(.taskKind, count: sections.taskCount)
      self.flagBits = try sections.column(.taskFlags, count: sections.taskCount)
      self.priority = try sections.column(.taskPriority, count: sections.taskCount)
      self.policyIndex = try sections.column(.taskPolicy, count: sections.taskCount)
      self.demand = try sections.column(.taskDemand, count: sections.taskCount)
      self.fingerprint = try sections.column(.taskFingerprint, count: sections.taskCount)
      self.record = try sections.column(.taskRecord, count: sections.taskCount)
      self.written = try PlanEdges(sections)
      self.nameTable = try sections.nameTable()
      self.listOffsets = try sections.column(.listOffsets)
      self.listItems = try sections.column(.listItems)
      self.environmentOffsets = try sections.column(.environmentOffsets)
      self.environmentItems = try sections.column(.environmentItems)
      self.environments = try sections.column(.environments)
      self.demandOffsets = try sections.column(.demandOffsets)
      self.demandItems = try sections.column(.demandItems)
      self.codeOffsets = try sections.column(.codeOffsets)
      self.codeItems = try sections.column(.codeItems)
      self.policies = try sections.column(.policies)
      self.resources = try sections.column(.resources)
      self.files = try sections.column(.files)
      self.environmentNames = try sections.column(.environmentNames)
      self.arena = try sections.column(.arena)
      let manifests: Column<ManifestEntry> = try sections.column(.manifest)
      guard let manifest = manifests.last else { throw .section(.manifest) }
      self.manifest = manifest
      self.downloads = try sections.column(.downloads)
      self.secretEntries = try sections.column(.secrets)
      self.globs = try sections.column(.globs)
      self.matrixGroups = try sections.column(.matrixGroups) { $0.firstTask }
      self.matrixGroupValues = try sections.column(.matrixGroupValues)
      self.lateOffsets = try sections.column(.lateOffsets)
      self.lateItems = try sections.column(.lateItems)
      self.stepOffsets = try sections.column(.stepOffsets)
      self.stepItems = try sections.column(.stepItems)
      self.declarations = try sections.column(.declarations) { $0.task }
      self.declaredOffsets = try sections.column(.declaredOffsets)
      self.declaredItems = try sections.column(.declaredItems)
      self.services = try sections.column(.services)
      self.outerNeeds = try sections.column(.outerNeeds)
      self.lastOuterEdge = try sections.column(
        .lastOuterEdge, count: sections.hasRoom ? sections.taskCount : 0)
      self.instanceNeeds = try Self.findInstanceNeeds(
        sections, hasInstanceMakers: manifest.hasInstanceMakers == 1, written, names: name,
        flagBits, matrixGroups, nameTable, arena)
      self.edges = instanceNeeds?.edges ?? written
    } catch {
      release(bytes)
      throw error
    }
    self.taskCount = sections.taskCount
    self.firstTaskCount = sections.firstTaskCount
    self.key = sections.key
    self.hasRoom = sections.hasRoom
    self.sections = sections
    self.byteCount = bytes.count
    self.bytes = bytes
    self.release = release
  }

  package convenience init(copying bytes: [UInt8], limit: Int? = nil) throws(PlanError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Swift.max(bytes.count, 1), alignment: 8)
    copy.copyBytes(from: bytes)
    try self.init(
      bytes: UnsafeRawBufferPointer(rebasing: copy[..<bytes.count]), checksum: true, limit: limit,
      release: { $0.deallocate() })
  }

  package var copyOfBytes: [UInt8] { Array(bytes) }

  deinit { release(bytes) }
}

public struct Column<Record: BitwiseCopyable>: RandomAccessCollection {
  // SAFETY: `base` points at `count` records of the plan's bytes, and every holder of a column
  // holds the plan. Without records it dangles and is never dereferenced.
  @usableFromInline let base: UnsafePointer<Record>
  public let count: Int

  init(base: UnsafePointer<Record>, count: Int) {
    self.base = base
    self.count = count
  }

  init() {
    base = UnsafePointer(
      UnsafeMutablePointer(bitPattern: MemoryLayout<Record>.alignment).unsafelyUnwrapped)
    count = 0
  }

  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { count }

  @inlinable @inline(__always)
  public subscript(index: Int) -> Record {
    guard UInt(bitPattern: index) < UInt(bitPattern: count) else { outOfBounds(index) }
    return base[index]
  }

  public subscript(range: Range<Int>) -> Column<Record> {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "plan: range out of bounds")
    return Column(base: base + range.lowerBound, count: range.count)
  }

  @usableFromInline
  func outOfBounds(_ index: Int) -> Never {
    preconditionFailure("plan: index \(index) of \(count)")
  }
}

extension Column {
  /// `isBehind` must stay true from the first index where it is true.
  func partitioningIndex(where isBehind: (Record) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension Column where Record == UInt8 {
  @inline(__always)
  func raw(offset: Int, length: Int) -> UnsafeRawBufferPointer {
    precondition(
      offset >= 0 && length >= 0 && length <= count && offset <= count &- length,
      "plan: range out of bounds")
    return UnsafeRawBufferPointer(start: base + offset, count: length)
  }
}

package enum PlanError: Error, Equatable, Sendable {
  case tooShort
  case notAPlan
  case version(found: UInt32, expected: UInt32)
  case length(found: UInt64, expected: UInt64)
  case checksum
  case section(PlanSection)
  case reference(PlanSection)

  package var message: String {
    switch self {
    case .tooShort: "it is truncated"
    case .notAPlan: "it is not a plan"
    case .version(let found, let expected): "it has format \(found), and opflow reads \(expected)"
    case .length(let found, let expected): "it has \(found) bytes, not \(expected)"
    case .checksum: "it is damaged: the checksum does not match"
    case .section(let section): "the section table is invalid at `\(section)`"
    case .reference(let section): "the section `\(section)` is invalid"
    }
  }
}
