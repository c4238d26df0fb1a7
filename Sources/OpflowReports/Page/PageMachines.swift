internal import OpflowCore
internal import OpflowViews

/// The nodes of a run.
extension PageReport {
  private static let mostMachines = 100

  mutating func writeMachines() {
    let sites = status.history.sites.all
    if sites.isEmpty { return }
    begin("machines", "Machines")
    html.add("<div class=\"scroll\"><table class=\"brief\"><thead><tr><th>machine</th>")
    html.add("<th class=\"n\">processors</th><th class=\"n\">memory</th><th class=\"n\">GPUs</th>")
    html.add("<th class=\"n\">joined</th><th class=\"n\">tries</th>")
    html.add("<th>became</th></tr></thead>\n<tbody>\n")
    var tries: [String: Int] = [:]
    for attempt in status.history.attempts.all {
      tries[status.history.attempts.host(of: attempt), default: 0] += 1
    }
    for site in sites.prefix(Self.mostMachines) {
      html.add("<tr><td>")
      html.code(MachineText.name(site.offer.host))
      html.add("</td>")
      cell(site.offer.cores == 0 ? "" : "\(site.offer.cores)")
      cell(site.offer.memoryBytes == 0 ? "" : SizeText.text(bytes: site.offer.memoryBytes))
      cell(site.offer.gpus == 0 ? "" : "\(site.offer.gpus)")
      cell(since(site.joinedMilliseconds))
      cell(CountText.grouped(tries[site.offer.host] ?? 0))
      words(became(site))
      html.add("</tr>\n")
    }
    html.add("</tbody></table></div>\n")
    more(sites.count - Self.mostMachines)
    html.add("</section>\n")
  }

  private func since(_ milliseconds: Int64) -> String {
    let passed = max(0, milliseconds.minus(status.openedMilliseconds))
    return "+\(DurationText.text(milliseconds: passed))"
  }

  /// Returns `is lost at +12s: its stream ended`; empty if it stayed.
  private func became(_ site: SiteRecord) -> String {
    if site.state == .joined { return "" }
    let what = CleanText.string(site.what)
    return "\(StatusMachines.word(site.state)), \(since(site.stateMilliseconds))"
      + (what.isEmpty ? "" : ": \(what)")
  }
}
