internal import OpflowCore

enum MachineJSON {
  /// Writes the nodes of all sessions in the order in which they joined.
  static func write(_ sites: SiteRecords, into json: inout JSONWriter) {
    json.key("machines")
    json.beginArray()
    for site in sites.all {
      json.beginObject()
      json.key("host")
      json.string(site.offer.host)
      json.key("state")
      json.string(site.state.rawValue)
      json.key("drive")
      json.number(site.drive)
      writeOffer(of: site.offer, into: &json)
      json.key("joined_ms")
      json.number(site.joinedMilliseconds)
      json.key("state_ms")
      json.number(site.stateMilliseconds)
      if !site.what.isEmpty {
        json.key("what")
        json.string(site.what)
      }
      json.endObject()
    }
    json.endArray()
  }

  /// Writes the resources of a node, with null for unknown amounts.
  static func writeOffer(of entry: SiteEntry, into json: inout JSONWriter) {
    json.key("cores")
    json.optional(entry.cores > 0 ? entry.cores : nil)
    json.key("memory_bytes")
    json.optional(entry.memoryBytes > 0 ? entry.memoryBytes : nil)
    json.key("gpus")
    json.number(entry.gpus)
  }
}
