# English. The keys of this file and of zh.ftl are the same; a test compares them.
# Numbers keep their whole, units follow after a no-break space, a button or command is a verb.

## States: of an execution, order, step or card

state-pending = not started
state-running = running
state-waiting = waiting for a decision
state-done = done
state-partial = partly done
state-failed = failed
state-cancelled = cancelled
state-skipped = skipped
state-unfinished = not finished
state-open = open
state-closed = closed
state-approved = approved
state-denied = denied
state-expired = expired
state-withdrawn = withdrawn
state-superseded = superseded by a newer one
state-executed = carried out
state-execution_failed = failed when it was carried out
state-undone = taken back

confidence-high = high confidence
confidence-medium = medium confidence
confidence-low = low confidence
confidence-none = not assessed

severity-critical = critical
severity-high = high
severity-medium = medium
severity-low = low

direction-up = more is better
direction-down = less is better
direction-neutral = neither way

## Errors and interruptions

error-unexpected = Something unexpected happened; the details are in { $log }.
error-skill-unclear = It is not clear which skill the goal means. Name one with --skill:
error-unknown-id = { $count ->
    [0] No { $kind } is called { $typed }. The newest: { $candidates }.
   *[other] { $typed } names { $count } of them: { $candidates }. Type more of the id.
}
error-unknown-option = { $card } has no option { $option }. Choose one of { $options }.
error-card-closed = { $outcome ->
    [approved] { $card } was approved by { $by } at { $at }: { $option }. Nothing was changed.
    [denied] { $card } was denied by { $by } at { $at }. Nothing was changed.
    [expired] { $card } expired: nobody decided in time. Nothing was changed.
    [withdrawn] { $card } was withdrawn. Nothing was changed.
   *[other] { $by } already decided { $card } at { $at }. Nothing was changed.
}
error-not-allowed-to-decide = { $why ->
    [requester] { $person } asked for this execution; whoever asks cannot approve.
    [deputy] { $person } stands in for the person who asked; whoever asks cannot approve.
    [role] { $person } has no role that decides; it takes approver or admin.
    [not_named] { $person } is not asked by { $card }.
   *[other] { $person } has no entry in this organisation any more.
}
error-execution-busy = { $execution_id } is being worked on by { $holder } until { $until } or longer. Follow it with silicon show.
error-organisation-faulty = { $folder } has { $faults-count ->
    [one] { $faults-count } fault
   *[other] { $faults-count } faults
}; nothing was run.
error-model-required = Step { $step } needs a model and none is set. Name one in the setting { $setting } (environment variable { $variable }).
error-server-running = The server with process id { $pid } works on { $database } already; an embedded ledger has one server. Use that one, stop it, or take another home folder.
error-address-in-use = Nothing can listen on { $host }, port { $port }: { $error }. Choose another with --host and --port; port 0 takes a free one.
error-execution-imported = { $execution_id } was imported from a file: it can be looked at here with silicon show, and never goes on here.
error-already-here = { $execution_id } is in this ledger already, or was pruned from it. Nothing was changed.
error-target-in-use = The database { $address } is not empty; a backup is restored into an empty one only.
error-file-in-use = There is a file { $path } already, which is never written over. Choose another name.
error-ledger-unavailable = The ledger { $address } cannot be read or written: { $error }.

home-made = No home folder was here or above; { $home } was made. SILICON_HOME names another.
interrupted = Stopped. Nothing was started.
interrupted-resumable = Stopped. What is finished is kept; go on with: { $command }

## Progress

progress-begun = This is { $id }.
progress-accepted = { $employee } starts { $skill }
progress-answered = answer { $number } of the model

## Orders that wait for a slot

queued-slot = { $ahead ->
    [0] waits for a slot: next in line
   *[other] waits for a slot: { $ahead } ahead
}
hosts-awaited = hosts of employees: { $tried } of { $tries } tries to start them failed, tried again: { $why }
queued-node = waits for a node: every one that fits is cordoned or draining
queued-labels = { $count ->
    [one] waits: no node offers label { $names }
   *[other] waits: no node offers labels { $names }
}
queued-bridge = waits: no bridge is there that carries out { $names }
queued-limits = waits: no node can hold { $names }
queued-more = { $count ->
    [one] and one more order
   *[other] and { $count } more orders
}

## Models that are asked

asked-model = asks the model { $model } ({ $role }), for { $long } now
asked-waits = waits for its turn at the model { $model } ({ $role }), for { $long } now
asked-more = { $count ->
    [one] and one more step
   *[other] and { $count } more steps
}

## The outcome of an execution

outcome-found = Found
outcome-result = Result
outcome-failed = Why
outcome-note = Note
outcome-done = Done
outcome-missing = Missing
outcome-part = { $step } ({ $missing } of { $whole })
outcome-steps-more = … and { $count } more
outcome-next-partial = What was done is kept and is not done again. Go on with what it asks for: { $command }
outcome-not-offered-forbidden = option { $option } was not offered, because the rule { $rule } forbids { $use }: { $why }
outcome-not-offered-unclear = option { $option } was not offered, because the rule { $rule } could not be judged for { $use }: { $why }
outcome-not-offered-unfit = option { $option } was not offered, because { $use } could not be called: { $why }
outcome-branch-failed = branch { $branch } failed, the plan went on without it: { $why } [{ $code }]
outcome-branches-more = … and { $count ->
    [one] { $count } more branch
   *[other] { $count } more branches
} failed
outcome-product = Report
outcome-details = Details
outcome-took = { $steps ->
    [one] { $steps } step, { $seconds }
   *[other] { $steps } steps, { $seconds }
}
outcome-repeated = this key was used before, nothing new was run
outcome-imported = imported: it happened elsewhere and does not go on here
outcome-next-failed =
    After mending data or a service, go on where it stood: { $command }
    It keeps the organisation folder it began with; after changing the folder, run the goal anew.
outcome-next-forbidden = Going on would be refused again. Ask for something that the rule allows, or change the organisation folder and run the goal anew.
outcome-next-no-node = Once a node that fits is there, go on where it stood: { $command }
outcome-next-model = An execution keeps the models it was asked for with, here none. Set one, and run the goal anew.
outcome-next-running = Another process is at work on it. Should it have stopped: { $command }

## Cards and decisions

card-until = until { $deadline }
card-none-of-these = none of these
card-state = State
card-impact = Impact
card-tell-output = Who knows what it gave ({ $names }) adds --output FILE to { $option }: a JSON object that later steps read.
card-told-output = what it gave: { $output }
card-who = Decides
card-quorum = Yes needed
card-rule = Rule
card-mode-request = who asked wants it stricter
card-mode-serious-error = a serious error was made
card-mode-confidence = the finding is not surely true
card-mode-irreversible = it cannot be taken back
card-mode-impact = its impact is not under the limit
card-mode-no-limit = the rule has no limit
card-mode-nothing-to-do = no option does anything
card-asked-by = Asked by
card-id = Card
card-execution = Execution
card-decided-for = yes to { $option }
card-decided-no = no to all
card-left-out = { $left } letters are left out here; see all of it: { $command }
card-argument-long = { $length } letters in all, sha256 { $sha256 }; see all of it: { $command }
card-was-approved = approved by { $by }: { $option }
card-was-denied = denied by { $by }: none of the options
card-was-expired = expired: nobody decided in time, nothing was carried out
card-was-expired-in-doubt = expired: nobody decided in time
card-was-withdrawn = withdrawn before it was decided
card-edited = edited { $option }
card-edit-before = Before
card-edit-after = Now
card-on-behalf = on behalf of { $name }
card-was-superseded = superseded: a newer card asks about the same
card-was-passed = passed by the rule { $by }, without a person: { $option }

option-benefit = Benefit
option-risk = Risk
option-cost = Cost
option-undo = Undo
option-undo-yes = can be taken back
option-undo-no = cannot be taken back
option-nothing-to-undo = nothing new is done
option-confidence = Confidence
option-does = Does
option-undo-does = Taken back by

approvals-none = Nothing waits for a decision.
approvals-more = There are more; --limit shows more than { $limit }.
decide-all-goes-on = A server goes on with what waited; without one, silicon resume does.
review-none = Nothing waits for a review.
review-set-back = What it does waits for a person from now on, whatever its rule says.
delegations-none = Nobody decides the cards of somebody else.
cards-rebuilt = The table of cards was made again from events: { $count } cards.
messages-none = Nobody was told anything.
approvals-more-needed = The decision is written: { $given } of { $needed }. The card stays open until the others have said yes.
decide-yes = Approve { $option }: { $title }
decide-not-told = Only that it was done is recorded. Steps that read { $names } will fail; --output FILE tells them.
decide-no = Deny: none of the options
decide-does = This happens: { $action }
decide-reversible = It can be taken back.
decide-irreversible = It cannot be taken back.

up-listening = Listening on { $address } (process { $pid }). Ctrl-C or SIGTERM stops it.
up-for = It works on executions of { $organisations }.
up-for-all = It works on every execution of this ledger whose folder is here.
up-token = The first token, an administrator's; it is shown this once:
up-stopping = { $count ->
    [0] Stopping.
    [one] Stopping: one execution gets { $seconds } s for the steps in progress. Once more stops at once.
   *[other] Stopping: { $count } executions get { $seconds } s for the steps in progress. Once more stops at once.
}
up-stopped = Stopped. What was not finished goes on when a server runs again, or with `silicon resume`.
cancel-told = Another process runs it and was told to stop.
cancel-branch-told = Another process runs it and was told to stop the branch { $branch }.
cancel-branch-ended = The branch { $branch } had ended before; nothing was cancelled.
cancel-branch = The branch { $branch } was cancelled; the rest went on.
cancel-in-doubt = It was cancelled. Of an effect that was under way only people can tell whether it happened; it finishes when they have. Nothing is done again.
cancel-too-late = It had ended before; nothing was cancelled.

## Executions

runs-none = Nothing was run yet.
runs-none-left = Nothing is here any more: what was run was pruned.
runs-none-of = No execution of { $organisation } is here.
runs-not-held = stopped, can be resumed

show-asked = asked by { $by }, { $at }
show-known-at = known at { $at }
show-trace = trace { $trace }
show-order = { $order }
show-slot = slot { $slot }
show-revised = plan revised: { $why }
show-refused = rule { $rule } refused { $use } (step { $step }, request { $request })
show-seal = evidence sealed { $seal }
show-damaged = (damaged: run silicon audit verify)
show-result = result
show-query = query
show-data = data
show-evidence = { $count ->
    [one] { $count } piece of evidence
   *[other] { $count } pieces of evidence
}
show-attempts = { $count } attempts
show-file = file { $name }
show-waits-for = waits for { $id }
show-how = { $command } shows what a step gave.
prompts-size = answer { $answer }, { $size } characters, { $tokens } tokens told by the endpoint
prompts-differs = This is how it would be put together now; what was sent has another hash. Settings or the program changed since.
prompts-left-out = left out: { $origin }: { $why } ({ $size } characters)
prompts-tools = tools: { $tools }
prompts-none = No model has answered here; `silicon events` shows requests that no answer came to (model.unreachable, model.stopped).
given-nothing = It gave nothing that is handed on.
given-not-yet = It has given nothing yet.
given-parts = What it gave is made up of { $parts }.
given-more = { $count ->
    [0] Long lines are cut; --full shows all of it.
    [one] … and 1 more line; --full shows all of it, --json as a value.
   *[other] … and { $count } more lines; --full shows all of it, --json as a value.
}

summary-items = { $count ->
    [one] { $count } item
   *[other] { $count } items
}
summary-fields = { $count ->
    [one] { $count } field
   *[other] { $count } fields
}
summary-missing = missing
summary-yes = yes
summary-no = no
summary-more = … and { $count } more

## Organisations

check-faults = { $count ->
    [one] { $count } fault. Nothing was run.
   *[other] { $count } faults. Nothing was run.
}
check-good = { $organisation } has no fault.
check-count-employees = { $count ->
    [one] { $count } employee
   *[other] { $count } employees
}
check-count-skills = { $count ->
    [one] { $count } skill
   *[other] { $count } skills
}
check-count-metrics = { $count ->
    [one] { $count } metric
   *[other] { $count } metrics
}
check-count-sensors = { $count ->
    [one] { $count } sensor
   *[other] { $count } sensors
}
check-count-rules = { $count ->
    [one] { $count } rule
   *[other] { $count } rules
}
check-count-people = { $count ->
    [one] { $count } person
   *[other] { $count } people
}
check-count-connections = { $count ->
    [one] { $count } connection
   *[other] { $count } connections
}

init-made = Made { $folder }: a bakery with four weeks of sales.
init-next = Next:

## Metrics and sensors

costs-none = Nothing was spent in that time.
costs-by-step = step
costs-by-agent = employee
costs-by-process = process
costs-by-department = department
costs-by-model = model
costs-by-day = day
costs-no-step = (no step)
costs-no-agent = (unknown)
costs-no-process = (a goal without a skill)
costs-no-department = (unknown)
costs-no-model = (no model)
costs-no-day = (unknown)
costs-money = money
costs-tokens-in = tokens in
costs-tokens-out = tokens out
costs-seconds = seconds
costs-steps = steps
costs-total = Total
costs-unknown = { $count ->
    [one] 1 of unknown price
   *[other] { $count } of unknown price
}
costs-no-budgets = No department and no process has a budget.
budgets-budget = budget
budgets-window = period
budgets-limit = limit
budgets-most = at most
budgets-spent = spent
budgets-reserved = set aside
budgets-left = left
costs-rebuilt = Costs are counted anew, up to event { $position }.

rules-none = This organisation has no rules.
rules-name = rule
rules-applies-to = applies to
rules-check = held
rules-breach = a breach
rules-examples = examples
rules-text = text
rules-version = version
rules-everything = everything that changes something
rules-by-code = by code
rules-told-only = told only
rules-unsaid = not said
rules-breach-damages-data = damages data
rules-breach-stops-service = stops service
rules-breach-fails-silently = fails silently
rules-breach-inconvenient = is inconvenient
rules-lets-pass = passes
rules-refuses = is refused
rules-none-refused = No rule has refused anything.
rules-times = refused
rules-at = at (UTC)
rules-action = action
rules-step = step
rules-execution = execution
rules-tested = { $count ->
    [one] 1 example
   *[other] { $count } examples
 }, { $failed } otherwise than expected.
metrics-none = This organisation has no metrics.
metrics-no-values = There is no value for that.
metrics-name = metric
metrics-title = title
metrics-meaning = Meaning
metrics-unit = unit
metrics-value = value
metrics-rests-on = Rests on
metrics-over = Rows
metrics-grains = per
metrics-dimensions = by
metrics-good = Good
metrics-owner = Owner
metrics-freshness = Data may come after the period by
metrics-watched-by = Watched by
metrics-nobody = no sensor
metrics-version = Version
metrics-in-force = In force since
metrics-defined = defined, first read { $at } by { $by }
metrics-changed = changed, first read { $at } by { $by }
metrics-removed = removed, first seen { $at } by { $by }
metrics-begin-anew = Sensors that began anew: { $sensors }
metrics-go-on = Its values are the same; these sensors go on: { $sensors }
metrics-period = period
metrics-n = rows
metrics-missing = missing
metrics-not-yet-arrived = not yet arrived

sensors-none = This organisation has no sensors.
sensors-name = sensor
sensors-watches = watches
sensors-next = next
sensors-last = last
sensors-rule-skipped = skipped:
sensors-rule-repeated = repeated:
sensors-rule-catch_up = missed:
sensors-failed = { $sensor } failed at { $at }: { $message }
sensors-open = { $sensor }: not over yet for { $slices }
sensors-recalibrated = { $sensor }: began anew { $at }, because { $metric } changed
sensors-usual = ({ $expected } expected, { $low } to { $high } usual)
sensors-held-back = { $count ->
    [one] { $sensor } was held back once, because { $why }.
   *[other] { $sensor } was held back { $count } times, the last time because { $why }.
}
sensors-when = when
sensors-severity = matters
sensors-raises = raises
sensors-looked = { $sensors ->
    [one] { $sensors } sensor
   *[other] { $sensors } sensors
} looked at { $buckets ->
    [one] { $buckets } period
   *[other] { $buckets } periods
}, as known at { $at }
sensors-merged = { $count ->
    [one] { $count } signal was raised before
   *[other] { $count } signals were raised before
}
sensors-quiet = Nothing to report.
signal-threshold = Beyond the threshold
signal-cleared = Back to normal
signal-no-data = No data
signal-not-enough-history = Not enough history
signal-sensor-failed = The sensor failed
signal-metric-changed = Its definition changed
signal-event = event

## System

settings-all-default = Every setting is at its default.
settings-name = setting
settings-value = value
settings-source = source
settings-default = default
settings-meaning = meaning

audit-clean = The ledger is as it was written: { $events } events{ $pruned ->
    [0] {""}
   *[other] , { $pruned } of them pruned
}.
audit-faults = { $count ->
    [one] { $count } thing is not as it was written.
   *[other] { $count } things are not as they were written.
}
audit-ledger = the ledger
audit-place = { $stream } version { $version }

evidence-sealed = { $count ->
    [one] { $count } item, sealed { $at }, seal { $seal }
   *[other] { $count } items, sealed { $at }, seal { $seal }
}
evidence-seal-open = not sealed yet: the order goes on
evidence-seal-none = not sealed: the order was carried out without a slot; this is what the ledger shows
evidence-seal-missing = never sealed
evidence-nothing = It shows nothing.
evidence-left = { $path } stayed behind in the slot: { $why }
evidence-erased = { $count ->
    [one] { $count } event was erased for good; what it showed can no longer be compared.
   *[other] { $count } events were erased for good; what they showed can no longer be compared.
}
evidence-kind-call = call
evidence-kind-file = file
evidence-kind-screenshot = screenshot
evidence-kind-rows = rows
evidence-kind-receipt = receipt
evidence-stored = bytes stored
evidence-ledger = in the ledger
evidence-hash = hash only
evidence-removed = deleted
evidence-files = { $count } more together, { $first } to { $last }
evidence-rows = { $count ->
    [one] { $count } row
   *[other] { $count } rows
}
evidence-clean = All evidence is as it was: { $orders ->
    [one] { $orders } order
   *[other] { $orders } orders
}, { $items ->
    [one] { $items } item
   *[other] { $items } items
}.
evidence-no-items = Nothing was proven: { $orders ->
    [one] { $orders } order left
   *[other] { $orders } orders left
} no item of evidence.
evidence-faults = { $count ->
    [one] { $count } thing is not as it was.
   *[other] { $count } things are not as they were.
}

contracts-written = { $count } schemas written to { $folder }

db-current = The schema is the one of this program.
db-not-current = The schema is not the one of this program; run silicon db upgrade.
db-no-tables = no tables yet
db-address = Database
db-revision = Schema
db-newest = Program

backup-made = Copied everything up to position { $events } to { $file } ({ $size }) and audited the copy.
backup-faults = { $count ->
    [one] The ledger has { $count } fault, and so has its copy. Run silicon audit verify.
   *[other] The ledger has { $count } faults, and so has its copy. Run silicon audit verify.
}
restore-done = { $file } is restored to { $address }, up to position { $events }.

prune-keeps-all = Executions are kept for ever, unless retention.executions_days or --days N says how long.
prune-did = { $executions ->
    [one] { $executions } execution is gone for good
   *[other] { $executions } executions are gone for good
} ({ $events ->
    [one] { $events } event
   *[other] { $events } events
}).
prune-would = { $executions ->
    [one] { $executions } execution would go
   *[other] { $executions } executions would go
} ({ $events ->
    [one] { $events } event
   *[other] { $events } events
}). Nothing was changed.
prune-beside = Beside them: { $blobs ->
    [one] { $blobs } blob that nothing else names
   *[other] { $blobs } blobs that nothing else names
} ({ $size }), { $fragments ->
    [one] { $fragments } fragment that was only streamed
   *[other] { $fragments } fragments that were only streamed
}
prune-held = { $count ->
    [one] { $count } is kept under a hold
   *[other] { $count } are kept under a hold
}
prune-in-use = { $count ->
    [one] { $count } is kept: it is at work, or a card of it waits
   *[other] { $count } are kept: they are at work, or a card of theirs waits
}
prune-free = { $size } are free in the file and will be used again; --compact gives them back
prune-not-compacted = The file was not made smaller ({ $size } are free in it): another program uses it. Try again later.
hold-placed = { $execution } is kept whole until its hold is released (placed by { $by }).
hold-released = { $execution } is under no hold any more; { $by } had placed it at { $at }: { $reason }
hold-by = placed by
hold-since = since
hold-reason = why
holds-none = No execution is under a hold.
export-done = { $execution } is in { $file }: { $events } events, { $size }.
import-done = { $execution } can be looked at here: { $events } events. It never runs here.

doctor-healthy = Nothing is broken.
doctor-more = … and { $count } more; silicon check shows all.
doctor-broken = { $count ->
    [one] { $count } thing is broken.
   *[other] { $count } things are broken.
}

cluster-no-nodes = No node is there. `silicon up` and `silicon cluster serve` offer one.
cluster-state = { $state ->
    [open] open
    [cordoned] cordoned
    [draining] draining
   *[lost] lost
}
cluster-taken = { $taken } of { $slots } slots taken
cluster-beat = last beat { $at }
cluster-closed-by = closed by { $name } ({ $via }) at { $at }
cluster-cannot = cannot enforce: { $names }
cluster-free = free
cluster-warm = free, kept ready
cluster-order-state = { $state ->
    [queued] queued
    [assigned] assigned
    [running] running
    [reported] reported
   *[left] left by its submitter
}
cluster-priority = priority { $priority }
cluster-losses = { $count ->
    [one] lost one slot
   *[other] lost { $count } slots
}
cluster-waiting = { $count ->
    [0] No order waits for a slot.
    [one] One order waits for a slot.
   *[other] { $count } orders wait for a slot.
}
cluster-cordoned = { $node } takes no new orders.
cluster-opened = { $node } takes orders again.
cluster-draining = { $count ->
    [one] { $node } takes no new orders; one slot is still taken.
   *[other] { $node } takes no new orders; { $count } slots are still taken.
}
cluster-drained = { $node } is empty and takes no new orders.
cluster-serving = { $slots ->
    [one] Offering { $node } with one slot (process { $pid }). Ctrl-C or SIGTERM stops it.
   *[other] Offering { $node } with { $slots } slots (process { $pid }). Ctrl-C or SIGTERM stops it.
}
cluster-labels = Labels: { $labels }
cluster-stopping = { $count ->
    [0] Stopping.
    [one] Stopping: one order gets { $seconds } s for the step in progress and goes on elsewhere. Once more stops at once.
   *[other] Stopping: { $count } orders get { $seconds } s for the steps in progress and go on elsewhere. Once more stops at once.
}
cluster-stopped = Stopped. Its orders go on at other nodes.

## Reports

report-sources = Sources
report-missing = missing
report-yes = yes
report-no = no
report-no-rows = There are no rows.
report-table-source = Source of this table:
report-more-rows = { $count ->
    [one] { $count } more row is in the source
   *[other] { $count } more rows are in the source
}
report-source-computed = computed from
report-source-input = given with the order:
report-source-query = query
report-source-data = data
report-source-result = result

## Cards before an effect

card-effect-question = May { $employee } use { $capability }?
card-effect-impact =
    { $description }
    The order: { $objective }
card-effect-do-title = Let it happen, exactly so
card-effect-do-benefit = The work goes on.
card-effect-do-risk = { $effect ->
    [irreversible] It cannot be taken back.
   *[other] { $way_back ->
        [none] It changes something outside, and the order names no way to take it back.
       *[other] It changes something outside; if the work is cancelled, { $way_back } takes it back.
    }
}
card-effect-do-cost = What { $capability } costs with these values.
card-effect-nothing-title = Do nothing
card-effect-nothing-benefit = Nothing is changed.
card-effect-nothing-risk = The order ends without it.
card-effect-nothing-cost = None.

## Cards about an effect in doubt

card-doubt-question = Did { $capability } happen? It was begun, and its answer was lost.
card-doubt-impact =
    { $description }
    The order: { $objective }
    { $arguments ->
        [none] Begun by { $employee }, without arguments.
       *[other] Begun by { $employee } with { $arguments }
    }
card-doubt-happened-title = It happened
card-doubt-happened-benefit = The work goes on, and nothing is done twice.
card-doubt-happened-risk = Had it not happened, it would now be missing.
card-doubt-happened-cost = None.
card-doubt-again-title = It did not happen, do it now
card-doubt-again-benefit = It is done for certain.
card-doubt-again-risk = Had it happened after all, it would now happen twice.
card-doubt-again-cost = What { $capability } costs with these values.
card-doubt-stop-title = Stop here
card-doubt-stop-benefit = Nothing more is done until somebody has looked.
card-doubt-stop-risk = The order ends without a result.
card-doubt-stop-cost = None.

## Cards about an effect in doubt, after a cancellation

card-cancelled-question = Did { $capability } happen? The work was cancelled while it was under way.
card-cancelled-impact =
    { $description }
    The order: { $objective }
    { $arguments ->
        [none] Begun by { $employee }, without arguments.
       *[other] Begun by { $employee } with { $arguments }
    }
    It is not done again, whatever you answer.
card-cancelled-happened-title = It happened
card-cancelled-happened-benefit = { $way_back ->
    [none] The cancellation ends, and it is on record that the effect stands.
   *[other] { $way_back } takes it back now.
}
card-cancelled-happened-risk = { $way_back ->
    [none] Nothing takes it back here: do that by hand.
   *[other] Had it not happened, something would be taken back that never was.
}
card-cancelled-happened-cost = { $way_back ->
    [none] None.
   *[other] What { $way_back } costs.
}
card-cancelled-not-title = It did not happen
card-cancelled-not-benefit = The cancellation ends; there is nothing to take back.
card-cancelled-not-risk = Had it happened after all, it would stand.
card-cancelled-not-cost = None.
card-cancelled-stop-title = Nobody knows
card-cancelled-stop-benefit = The cancellation ends, and it is on record that this is in doubt.
card-cancelled-stop-risk = If it happened, it stands, and nothing takes it back.
card-cancelled-stop-cost = None.

## Cards about access that was refused

card-access-question = { $capability } was refused access. What now?
card-access-impact =
    { $description }
    The order: { $objective }
    { $arguments ->
        [none] Called by { $employee }, without arguments.
       *[other] Called by { $employee } with { $arguments }
    }
    The other side said: { $why }
card-access-again-title = Access is granted now: try again
card-access-again-benefit = The work goes on with what { $capability } gives.
card-access-again-risk = It is called once more, exactly so, with the rights that were granted.
card-access-again-cost = What { $capability } costs with these values.
card-access-done-title = It was done by hand
card-access-done-benefit = The work goes on, and nothing is called.
card-access-done-risk = What nobody tells of its result, later steps cannot read.
card-access-done-cost = None.
card-access-leave-title = Leave it
card-access-leave-benefit = Nobody gets more rights.
card-access-leave-risk = The step fails for want of access.
card-access-leave-cost = None.

## Findings: what an excess is due to

finding-condition = the condition
finding-unit = cases
finding-hit = counted
finding-explained = Cause: { $condition }. { $hits } of { $n } { $unit } { $hit } ({ $rate }, usually { $usual }), { $excess } more than usual; { $share } of these lie under it, at { $sites }.
finding-slice =
    Cause: { $causes }. { $hits } of { $n } { $unit } { $hit } in all ({ $rate }, usually { $usual }), { $excess } more than usual; the rest is as usual without it.{ $beside ->
        [0] {""}
       *[other] {" "}Beside it stands out, and is not named as a cause: { $also }.
    }
finding-not-explained = Not explained by the data: { $hits } of { $n } { $unit } { $hit } ({ $rate }, usually { $usual }), { $excess } more than usual.
finding-nothing-unusual = Nothing unusual: { $hits } of { $n } { $unit } { $hit } ({ $rate }, usually { $usual }).
finding-inconclusive = Too little to say: { $hits } of { $n } { $unit } { $hit }.

## Promises: what was expected against what happened

calibration-none = No promise was judged yet.
calibration-skill = skill
calibration-label = label
calibration-promised = promised
calibration-came-true = came true
calibration-interval = interval
calibration-judged-count = judged
calibration-shown = shown as
calibration-brier = Brier score { $brier } (0 is perfect, 0.25 is what saying one half gives)
calibration-judged = { $judged } judged, { $waiting } waiting
calibration-changed = From now on { $label } is shown as { $shown }.
calibration-proposed = A new skill is proposed: { $command }
calibration-no-gaps = No gap was found.
calibration-cases = { $cases } cases
calibration-promise = { $metric } of { $period } was to change by { $low } to { $high }: { $what }
calibration-why-no-value = there is no value
calibration-why-definition-changed = the metric has another definition now
calibration-why-metric-gone = the metric is gone
option-expects = Expects
option-expects-line = { $metric } of { $period } changes by { $change } ({ $low } to { $high }) from { $baseline }
option-corrected = {" "}(corrected from { $was }: { $kept } of { $n } such promises came true, { $promised } % should)

## Gaps: a skill that seems to be missing

gap-question = { $cases } executions ended alike: “{ $about }”. Is a new skill to be written?
gap-impact-failure = Orders of { $skill } failed with the same error in { $cases } executions. The cases stand on this card, and `silicon calibration gaps` shows the draft of a skill; nothing changes by itself.
gap-impact-hand-over = For goals of this kind a person had to say which skill reaches them, in { $cases } executions. The cases stand on this card, and `silicon calibration gaps` shows the draft of a skill; nothing changes by itself.
gap-impact-by-hand = Calls of { $about } were refused to us and made by a person instead, in { $cases } executions. The cases stand on this card, and `silicon calibration gaps` shows the draft of a skill; nothing changes by itself.
gap-draft-title = Write it, from the draft
gap-draft-benefit = { $cases } cases like these could be done.
gap-draft-risk = A skill for something that will not come again.
gap-draft-cost = Somebody's time; it goes through the gate like every change.
gap-nothing-title = Leave it as it is
gap-nothing-benefit = Nothing is spent.
gap-nothing-risk = The next case ends like these { $cases }.
gap-nothing-cost = None.

## Disputed memories

dispute-question = It was decided: “{ $older }” Now it is said: “{ $newer }” Which of them holds?
dispute-impact = Until somebody decides, the older one holds, and nobody is told the newer one.
dispute-newer-title = The newer one holds
dispute-newer-benefit = What was decided before is superseded; its history stays.
dispute-newer-risk = A decision is replaced that somebody had reasons for.
dispute-older-title = The older one stays
dispute-older-benefit = What was decided goes on; the newer one is withdrawn.
dispute-older-risk = What changed meanwhile is not known to anybody.
dispute-cost = None.

## Explanations: why a metric is what it is

explain-slice = { $metric } of { $period } is { $value }, usually { $usual }. It comes from { $dimension } { $causes }; without it the rest is as usual.
explain-driver = { $metric } of { $period } is { $value }, usually { $usual }. { $driver } goes with it (rank correlation { $correlation }, { $lag ->
        [0] at the same time
        [1] one period before
       *[other] { $lag } periods before
    }) and is far out as well. Going together is no proof of causing.
explain-mix = { $metric } of { $period } is { $value }, usually { $usual }. What changed is the mix by { $dimension }, not what its slices do.
explain-broad = { $metric } of { $period } is { $value }, usually { $usual }. Nothing that was looked at explains it: no slice without which the rest is as usual, and no metric that goes with it and is far out.
explain-usual = Nothing unusual: { $metric } of { $period } is { $value }, usually { $usual } ({ $low } to { $high }).
explain-inconclusive = { $metric } of { $period } is { $value }. Whether that is unusual cannot be said: { $why }.
explain-no-value = There is no value of { $metric } for { $period }. That is a gap in the records and says nothing of a drop.
explain-not-arrived = { $metric } of { $period } has not arrived yet. Nothing can be said of it.
explain-beside = Stands out, and is not named as a cause: { $slices }.
explain-why-history-too-short = there are too few earlier periods
explain-why-too-many-gaps = too many earlier periods have no value
explain-why-no-value = there is no value
explain-why-constant = the earlier values are all the same
explain-why-not-over = the period runs still, and its value grows with it
explain-why-found = it was judged

## Dead letters of the bus

letters-none = There are no dead letters.
letters-given-up = given up { $at } after { $tries ->
    [one] one try
   *[other] { $tries } tries
}: { $error }
letters-group = Group
letters-tries = Tries
letters-error = Failure
letters-event = Event
letters-pruned = pruned since
letters-retried = { $letter } goes to { $group } once more, with all its tries.
letters-dropped = { $letter } is given up for good: { $group } never handles it.

## Tokens of the HTTP API

tokens-made = Keep this token now; it is not shown again:
tokens-same-name = Called “{ $name }” are also { $tokens }, and they still count. End one that is not needed any more with `silicon tokens revoke`.
tokens-none = No token was made yet.
tokens-revoked = The token counts no more.
tokens-anybody = anybody, in every organisation
tokens-bridge = a bridge, for orders of { $organisations }
tokens-acts-as = Acts as
tokens-id = Token
tokens-created = Made
tokens-revoked-at = Revoked
tokens-expires = Counts until
tokens-used = Last used
users-rights = May
users-everywhere = everywhere: { $roles }
users-password = Password
users-password-again = Once more
users-none = none
users-signed-in = Logged in
users-tokens = Tokens
users-locked = Locked

## Cards that propose a looser mode

card-loosen-question = { $capability } was right { $times } times in a row. May it be decided more loosely?
card-loosen-impact = Under the rule { $rule }, what { $capability } does would be decided in the mode { $mode } from now on.
card-loosen-title = Decide it in the mode { $mode }
card-loosen-benefit =
    { $mode ->
        [threshold] What has a smaller impact than the limit of the rule { $rule } no longer waits for a person, where the finding is surely true.
       *[other] What can be taken back is carried out at once and told, where the finding is surely true.
    }
card-loosen-risk = A mistake is noticed afterwards only. One serious error, said in a review, sets it back to strict.
card-loosen-cost = None.
card-keep-title = Leave it as it is
card-keep-benefit = A person looks at each one before it happens.
card-keep-risk = People decide what they have not turned down for a long time.

## What passed by itself

card-passed-told = { $question } By the rule { $rule } ({ $mode }), without a person: { $option }
card-passed-undo = It can be taken back until { $until } UTC: silicon approvals undo { $card }

## Alerts and attention

alerts-none = No alerts.
alerts-state-open = open
alerts-state-acknowledged = acknowledged
alerts-state-resolved = over
alerts-state-closed = closed
alerts-signals = { $count ->
    [one] { $count } signal
   *[other] { $count } signals
}, { $repeated } repeated
alerts-last = last { $at }
alerts-taken-by = taken on by { $by }
alerts-told = told to { $to }
alerts-until = until { $at }
alerts-labels = Labels
alerts-priority = Priority
alerts-priority-of = { $priority } (impact { $impact } × urgency { $urgency })
alerts-severity = Severity
alerts-route = Route
alerts-opened = Raised
alerts-silence = silenced by { $by } until { $at }: { $reason }
alerts-would-silence = { $count ->
    [one] { $count } open alert would be silenced:
   *[other] { $count } open alerts would be silenced:
}
alerts-nothing-made = Nothing was made; --yes makes the silence.
alerts-silenced = { $count ->
    [one] { $count } open alert is silenced.
   *[other] { $count } open alerts are silenced.
}
alerts-lifted = The silence { $id } is lifted.
alerts-why-silenced = silenced
alerts-why-maintenance = maintenance
alerts-why-inhibited = explained by another alert
alerts-why-flapping = goes on and off
alerts-why-acknowledged = a person has it
alerts-why-over = over
alerts-why-seen-to = seen to already
alerts-why-no-room = others come first
alerts-why-anomalies = anomalies
alerts-why-calm = calm
alerts-why-bounds = new bounds
alerts-why-start = as it began
degree-high = high
degree-medium = medium
degree-low = low
attention-none = Nothing is open.
attention-severity = severity
attention-timeliness = timeliness
attention-impact = impact
attention-waiting = waiting
attention-sensor = sensor
attention-looks-every = looks every
attention-because = because
attention-since = since

## Heartbeat

heartbeat-on = on, every { $every }
heartbeat-off = off
heartbeat-beat = heartbeat
heartbeat-watched-by = watched by
heartbeat-nobody = nobody; a server beats for the folders it is started with
heartbeat-last = last round
heartbeat-quiet = looks without news
heartbeat-waiting = waiting for room
heartbeat-work = In { $days } days: { $goal } for goals, { $meta } meta of { $most } allowed, { $refused } refused.
heartbeat-day = day
heartbeat-goal = goals
heartbeat-meta = meta
heartbeat-refused = refused
heartbeat-rounds = rounds
## What people are told by webhook and e-mail

told-card-raised = Decision needed: { $question }
told-card-reminded = Still waits for a decision: { $question }
told-card-edited = Edited, decide anew: { $question }
told-card-escalated = Passed on to you, nobody decided in time: { $question }
told-card-expired = Expired without a decision: { $question }
told-until = To be decided by { $deadline }.
told-question = Question: { $question }
told-notification = { $employee }: { $text }
told-alert-news = Alert: { $kind }, { $source }{ $beside ->
        [0] {""}
       *[other] {" "}and { $beside } more
    }
told-alert-repeat = Still open: { $kind }, { $source }{ $beside ->
        [0] {""}
       *[other] {" "}and { $beside } more
    }
told-alert-escalation = Nobody took it on: { $kind }, { $source }{ $beside ->
        [0] {""}
       *[other] {" "}and { $beside } more
    }

deliveries-none = Nothing is on its way.
deliveries-waiting = waiting
deliveries-sent = delivered
deliveries-dead = given up
deliveries-dropped = dropped
deliveries-retried = It is tried again by the next server that looks.

# Memories
memory-none = No memories.
memory-more = There are more: --after { $id }
memory-nothing-found = Nothing that is remembered fits.
memory-no-room = { $count ->
    [one] One more would have fitted the question, and not the room.
   *[other] { $count } more would have fitted the question, and not the room.
}
memory-nothing-new = Nothing was said that is worth remembering.
memory-rebuilt = { $count ->
    [one] One memory was read again from the ledger.
   *[other] { $count } memories were read again from the ledger.
}
memory-cycle-held = Today had its cycle already.
memory-cycle = Looked at { $looked }: { $faded } faint, { $archived } archived; days without a cycle before: { $missed }.
products-none = Nothing was delivered that fits.
products-kind-report = report
products-kind-decision = decision
products-kind-insight = insight
products-execution = execution
products-step = made by
products-intent = to
products-labels = labels
products-files = files
products-sources = numbers with a source
products-versions = under this key
products-skill = skill
products-folder = folder, as pinned
products-upstream = { $count ->
    [one] It rests on one step
   *[other] It rests on { $count } steps
}
products-made-in = Made in
products-downstream = { $count ->
    [one] One step was made of it
   *[other] { $count } steps were made of it
}
products-drawn = Drawn into { $file }.
products-rebuilt = { $count ->
    [one] One product was read again from the ledger.
   *[other] { $count } products were read again from the ledger.
}
knowledge-linted = { $entries } entries, { $bodies } texts: { $faults ->
    [0] nothing
   *[other] { $faults }
} to be mended, { $listed } listed.
knowledge-mended = Mended: { $count }.
knowledge-layer-resident = Resident layer: { $why }.
knowledge-layer-body = Index and body: { $why }.
knowledge-layer-log = Log: { $why }.
knowledge-written = It stands in { $path }.
knowledge-entry = Its entry stands in { $path }.
profile-none = Nothing is known of { $person }.
profile-depth-form = How to answer
profile-depth-attention = What is looked at
profile-depth-thinking = How to explain
profile-guidance = Employees are told
profile-own = set by oneself
erasure-would = Of { $person } would be erased: { $memories } memories, { $conversations } conversations ({ $turns } events), { $profile } events of the profile, { $files } files.
erasure-done = Erased of { $person }: { $memories } memories, { $conversations } conversations ({ $turns } events), { $profile } events of the profile, { $files } files, { $blobs } blobs, { $vectors } vectors.
erasure-stays = What accounts for work stays: { $executions } executions they asked for, { $cards } decisions of theirs.
erasure-named = { $count ->
    [one] One memory of the business or of employees names them; look at it: { $ids }
   *[other] { $count } memories of the business or of employees name them; look at them: { $ids }
}
erasure-sure = Nothing was erased yet: --yes --reason TEXT does it.
memory-page-project = What is remembered of the project
memory-page-global = What is remembered in general
memory-page-raw = What is remembered; nothing was consolidated yet
memory-page-rests = { $count ->
    [one] It rests on one memory
   *[other] It rests on { $count } memories
}{ $left ->
    [0] .
   *[other] ; { $left } more had no room.
}
memory-shelf-told = { $requests ->
    [0] told in { $lines } lines
   *[other] told in { $lines } lines; { $requests } requests to a model, { $tokens } tokens
}
memory-shelf-unchanged = nothing was written or forgotten since it was told
memory-shelf-busy = another process is at it
memory-shelf-unfinished = the model could not be asked for all of it; it is taken up again the next time
memory-erased = The words of { $id } are gone for good.
memory-erased-not-execution = What the work that wrote it said stays in { $id }, until that is pruned (`silicon db prune`).
memory-holder-person = of { $name }
memory-holder-agent = of the employee { $name }
memory-holder-business = of the business
memory-class-rule = rule
memory-class-fact = fact
memory-class-preference = preference
memory-class-decision = decision
memory-class-task = task
memory-class-session = this conversation only
memory-class-other = noted
memory-state-active = holds
memory-state-superseded = superseded
memory-state-disputed = disputed, waits for a person
memory-state-archived = archived
memory-state-withdrawn = withdrawn
memory-state-erased = erased
memory-importance = importance { $value }
memory-confidence = confidence { $value }
memory-version = version
memory-source = source
memory-valid = holds
memory-read = last read
memory-about = says
memory-entities = names
memory-supersedes = in the place of
memory-superseded-by = replaced by
memory-disputes = contradicts
memory-part-words = words
memory-part-meaning = meaning
memory-part-phrase = phrase
memory-part-fresh = × fresh
memory-part-personal = × personal
memory-became-written = Remembered
memory-became-reinforced = Known already, and surer now
memory-became-supersedes = Remembered in the place of an older one
memory-became-disputed = Waits for a person
memory-became-left = Not worth remembering
memory-became-shown-before = Only repeats what was shown
memory-became-there = Was remembered before
memory-exported = { $memories ->
    [one] One memory
   *[other] { $memories } memories
}; files written: { $files }, unchanged: { $same }
memory-export-edited = { $file } has edits that were not imported, so it was left alone: silicon memory import, or --overwrite.
memory-import-untouched = Unchanged entries: { $count }
memory-import-missing = { $count ->
    [one] One memory is in no file any more and was left alone; --withdraw-missing forgets it.
   *[other] { $count } memories are in no file any more and were left alone; --withdraw-missing forgets them.
}
memory-taken-changed = changed
memory-taken-added = remembered
memory-taken-replaces = remembered in the place of an older one
memory-taken-disputed = waits for a person
memory-taken-known = known already
memory-taken-missing = missing
memory-taken-withdrawn = forgotten
memory-taken-conflict = conflict
memory-taken-fault = fault
memory-taken-edited = the file
memory-taken-stands = the memory
memory-taken-before = before
