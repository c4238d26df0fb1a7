package import OpflowCore
package import OpflowSystem

package struct JournalFile: ~Copyable {
  private let file: Descriptor
  private var encoder: JournalEncoder
  package private(set) var writtenBytes: UInt64
  package init(new path: String) throws(Errno) {
    file = try File.open(path, [.writeOnly, .create, .exclusive, .append], mode: 0o600)
    encoder = JournalEncoder()
    writtenBytes = 0
  }
  var hasUnwritten: Bool { !encoder.isEmpty }
  mutating func append(_ entry: JournalEntry, at ms: Int64, plan: Plan) {
    encoder.append(entry, at: ms, plan: plan)
  }
  mutating func append(_ t: Transition, at ms: Int64, plan: Plan) {
    encoder.append(t, at: ms, plan: plan)
  }
  mutating func flush() throws(Errno) {
    try file.writeAll(encoder.bytes)
    writtenBytes += UInt64(encoder.bytes.count)
    encoder.removeAll()
  }
  func syncNow() throws(Errno) { try file.syncData() }
  func makeSyncer() throws(Errno) -> Syncer { try Syncer(file) }
}
