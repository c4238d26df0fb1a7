/// The parts filled by the script.
enum PageOutline {
  static let time: StaticString = """
    <section id="time" hidden>
    <h2>What ran when</h2>
    <div class="tools">
    <button id="zoom-in" type="button">Zoom in</button>
    <button id="zoom-out" type="button">Zoom out</button>
    <button id="zoom-all" type="button">All</button>
    <button id="zoom-drive" type="button" hidden>Newest drive</button>
    <label hidden><input id="path-only" type="checkbox"> only the critical path</label>
    <output id="span"></output>
    </div>
    <div class="whole">
    <div class="wide"><canvas id="axis" aria-hidden="true"></canvas></div>
    <div class="wide tall"><canvas id="lanes" tabindex="0" role="img" aria-label="The tries of tasks in the lanes of \
    their workers. Arrows left and right move, plus and minus zoom, arrows up and down go from task to task; the table \
    below has the same times."></canvas></div>
    <div class="wide"><canvas id="use" tabindex="0" role="img" aria-label="How many tasks ran and waited, and what they \
    held of each resource. Arrows left and right move, plus and minus zoom."></canvas></div>
    </div>
    <p id="under" class="mono"></p>
    <ul class="legend">
    <li><i class="good"></i>succeeded</li><li><i class="bad"></i>failed</li>
    <li><i class="odd striped"></i>cut short, cancelled or allowed to fail</li><li><i class="live"></i>running</li>
    <li><i class="framed"></i>critical path, dashed while it waited</li>
    <li><i class="wait"></i>waiting: could have begun, and had no turn yet</li>
    <li><i class="live"></i>in a chart: reserved by running tasks</li>
    <li><i class="measured"></i>in a chart: measured</li>
    </ul>
    <p class="hint">Ctrl and the wheel zoom, dragging moves, a click shows the task. With the keyboard: + and −, ← and →,
    0 for all; ↓ and ↑ go from task to task.</p>
    </section>

    """

  static let views: StaticString = """
    <section id="graph" tabindex="-1" hidden>
    <h2>Graph</h2>
    <p class="hint">What is needed stands to the left of what needs it. Groups unfold; thick lines are the critical path, \
    and a dashed one leads to a <code>finally</code> task, which runs after all others.</p>
    <p id="graph-note"></p>
    <div class="tools" id="folds"></div>
    <div class="plane"><div id="plane"></div></div>
    </section>
    <section id="tasks" hidden>
    <h2>Tasks</h2>
    <div class="tools">
    <input class="grow" id="find" type="search" placeholder="words of the name" aria-label="find tasks by words of their names">
    <select id="which" aria-label="which tasks"></select>
    <button id="before" type="button">Previous</button>
    <button id="after" type="button">Next</button>
    <output id="shown" aria-live="polite"></output>
    </div>
    <p id="printed" class="paper"></p>
    <div class="scroll"><table id="table"><thead><tr></tr></thead><tbody></tbody></table></div>
    </section>
    </main>
    <aside id="detail" aria-label="one task" aria-live="polite" tabindex="-1" hidden></aside>

    """
}
