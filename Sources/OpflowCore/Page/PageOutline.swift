/// The places of a page that its script fills.
enum PageOutline {
  static let views: StaticString = """
    <noscript><p>A time line, the graph and a table of all tasks are shown where scripts may run.</p></noscript>
    <section id="tasks" hidden>
    <h2>Tasks</h2>
    <div class="tools">
    <input class="grow" id="find" type="search" placeholder="words of the name" aria-label="find tasks by words of their names">
    <select id="which" aria-label="which tasks"></select>
    <button id="before" type="button">Previous</button>
    <button id="after" type="button">Next</button>
    <output id="shown" aria-live="polite"></output>
    </div>
    <div class="scroll"><table id="table"><thead><tr></tr></thead><tbody></tbody></table></div>
    </section>
    </main>
    <aside id="detail" aria-label="one task" tabindex="-1" hidden></aside>

    """
}
