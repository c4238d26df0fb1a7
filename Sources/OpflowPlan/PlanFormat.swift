// The compiled plan
// =================
//
// A plan is one file: a header, a table of sections, and the sections, each an array of records of
// a fixed size. It has no pointers, so all processes map it and use it in place. Numbers are
// little-endian; every section starts at a multiple of eight bytes.
//
//   offset  size
//        0     8  magic "OPFLPLAN"
//        8     4  format version
//       12     4  number of sections
//       16     8  length of the file in bytes
//       24     8  XXH3-64 of everything from byte 64 on; zero in a plan with room
//       32    16  the plan's key, by which messages to workers name the plan
//       48     4  number of tasks; in a plan with room, the number before any addition
//       52     4  zero
//       56     8  zero; in a plan with room, the offset of its active head
//       64        the section table: kind, record size, offset, record count (4, 4, 8, 8 bytes)
//
// What scheduling reads is a column each. Everything else about a task is one `PlanRecord`.
//
// Strings are stored once in an arena and referred to by offset and length. Lists (command words,
// shells, tags, environments, demands) are runs of records, found through a column of offsets with
// one more entry than there are lists. List 0 of each kind is empty. All indexes are local to the
// file.
//
// A plan with room has space after each section, so tasks are added in place and indexes stay
// valid. It has two heads, one of them active. A head is an XXH3-64 of its rest, the number of
// tasks (8 bytes each) and a section table. An addition writes its records behind the counts of the
// active head, then the other head, then the offset in the header, which commits it. In-place
// changes (a slot of the name table, the end of a chain) point behind the counts of open readers,
// which ignore them. No checksum covers the records of such a plan.
//
// A segment is a plan whose tasks also need tasks of other segments, by name (`outerNeeds`). In the
// plan these are rows of `needTargets`, after those within the segment. In the other direction,
// existing rows stay unchanged, and chains (`outerEdges`) hold the new dependents.
//
// Every change of the layout, the sections or a field's meaning raises the version. A resume that
// finds another version compiles the manifest again.

package enum PlanFormat {
  package static let magic: [UInt8] = Array("OPFLPLAN".utf8)
  package static let version: UInt32 = 27
  static let headerBytes = 64
  static let sectionEntryBytes = 24
  static let keyPlace = 32
  /// In the header: the active head's offset.
  static let headPlace = 56
  /// A checksum, the number of tasks, and the section table.
  static let headBytes = 16 + PlanSection.allCases.count * sectionEntryBytes
  /// Exclusive upper limit of line numbers.
  package static let lineLimit: UInt32 = 1 << 30
}

/// The raw value is stored in the file.
package enum PlanSection: UInt32, CaseIterable, Sendable {
  case arena = 0
  case taskName, taskKind, taskFlags, taskPriority, taskPolicy, taskDemand, taskFingerprint
  case taskRecord
  case needOffsets, needTargets, needConditions
  case dependentOffsets, dependentTargets, dependentConditions
  case topologicalOrder
  case nameTable
  case listOffsets, listItems
  case environmentOffsets, environmentItems, environments
  case demandOffsets, demandItems
  case codeOffsets, codeItems
  case policies, resources, files, environmentNames
  case manifest
  case downloads
  case secrets
  case globs
  case families, familyValues
  case lateOffsets, lateItems
  case stepOffsets, stepItems
  case declarations, declaredOffsets, declaredItems
  case services
  case outerNeeds
  case outerEdges, firstOuterEdge, lastOuterEdge
}
