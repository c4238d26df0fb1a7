import OpflowBase
import OpflowPlan

/// The bytes of a plan, changed in one place, with a matching checksum: anyone who can write a plan
/// can write that too.
struct PlanPatch {
  private(set) var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private func load<Value: FixedWidthInteger>(_ offset: Int, as type: Value.Type) -> Value {
    bytes.withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type))
    }
  }

  /// Where record `index` of a section stands; its section's entry says the size of a record.
  private func place(_ section: PlanSection, _ index: Int) -> Int {
    let entry = 64 + Int(section.rawValue) * 24
    return Int(load(entry + 8, as: UInt64.self)) + index * Int(load(entry + 4, as: UInt32.self))
  }

  func value<Value: FixedWidthInteger>(
    _ section: PlanSection, _ index: Int, field offset: Int = 0, as type: Value.Type
  ) -> Value {
    load(place(section, index) + offset, as: type)
  }

  mutating func set(
    _ section: PlanSection, _ index: Int, field offset: Int = 0, to value: some FixedWidthInteger
  ) {
    set(byte: place(section, index) + offset, to: value)
  }

  mutating func set(byte place: Int, to value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) {
      bytes.replaceSubrange(place..<(place + $0.count), with: $0)
    }
    seal()
  }

  private mutating func seal() {
    let checksum = bytes.withUnsafeBytes { Hash.xxh3(UnsafeRawBufferPointer(rebasing: $0[64...])) }
    withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(24..<32, with: $0) }
  }

  /// The error of opening and checking the plan; nil for a valid one.
  var verdict: PlanError? {
    do throws(PlanError) {
      try Plan(copying: bytes).validate()
      return nil
    } catch {
      return error
    }
  }
}
