import OpflowPlan
import Testing

@Suite struct PlanBuilderTests {
  @Test func `lists that nobody looks for are in the way of no other one`() {
    var builder = PlanBuilder()
    let first = builder.list([builder.intern("a"), builder.intern("b")])
    for number in 0..<1000 { _ = builder.list(ofOne: builder.intern("line \(number)")) }
    let other = builder.list([builder.intern("b"), builder.intern("a")])
    #expect(other != first)
    #expect(builder.list([builder.intern("a"), builder.intern("b")]) == first)
    #expect(builder.list([builder.intern("b"), builder.intern("a")]) == other)
    #expect(builder.list(ofOne: .empty) == 0)
  }
}
