import Testing

/// What `opflow help` says of a manifest.
struct HelpTests {
  @Test func `help tells about the keys of a manifest`() throws {
    let place = try Workplace()
    #expect(try place.opflow("help", "manifest").output.contains("\n  timeout "))
    let key = try place.opflow("help", "manifest", "timeout").output
    #expect(key.hasPrefix("timeout, in a task, or `defaults`:\n") && key.contains("timeout: 10m"))
    let unknown = try place.opflow("help", "manifest", "depends_on", status: 2)
    #expect(unknown.errors.contains("did you mean `opflow help manifest needs`?"))
  }
}
