import Foundation
import Testing

struct SchemaCommandTests {
  @Test func `schema prints a JSON Schema of draft 7`() throws {
    let text = try Workplace().opflow("schema").output
    let schema = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(schema?["$schema"] as? String == "http://json-schema.org/draft-07/schema#")
    #expect((schema?["definitions"] as? [String: Any])?["task"] != nil)
  }
}
