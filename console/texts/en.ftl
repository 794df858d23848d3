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
state-open = open
state-closed = closed
state-approved = approved
state-denied = denied
state-expired = expired
state-withdrawn = withdrawn

confidence-high = high confidence
confidence-medium = medium confidence
confidence-low = low confidence

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
error-ledger-unavailable = The ledger { $address } cannot be read or written: { $error }.

interrupted = Stopped. Nothing was started.
interrupted-resumable = Stopped. What is finished is kept; go on with: { $command }

## Progress

progress-accepted = { $employee } starts { $skill }

## The outcome of an execution

outcome-found = Found
outcome-result = Result
outcome-failed = Why
outcome-product = Report
outcome-details = Details
outcome-took = { $steps ->
    [one] { $steps } step, { $seconds }
   *[other] { $steps } steps, { $seconds }
}
outcome-repeated = this key was used before, nothing new was run
outcome-next-failed =
    After mending data or a service, go on where it stood: { $command }
    It keeps the organisation folder it began with; after changing the folder, run the goal anew.
outcome-next-running = Another process is at work on it. Should it have stopped: { $command }

## Cards and decisions

card-until = until { $deadline }
card-none-of-these = none of these
card-state = State
card-impact = Impact
card-who = Decides
card-quorum = Yes needed
card-rule = Rule
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

option-benefit = Benefit
option-risk = Risk
option-cost = Cost
option-undo = Undo
option-undo-yes = can be taken back
option-undo-no = cannot be taken back
option-nothing-to-undo = nothing is done
option-confidence = Confidence
option-does = Does
option-undo-does = Taken back by

approvals-none = Nothing waits for a decision.
approvals-more-needed = The decision is written: { $given } of { $needed }. The card stays open until the others have said yes.
decide-yes = Approve { $option }: { $title }
decide-no = Deny: none of the options
decide-does = This happens: { $action }
decide-reversible = It can be taken back.
decide-irreversible = It cannot be taken back.

cancel-told = Another process runs it and was told to stop.
cancel-too-late = It had ended before; nothing was cancelled.

## Executions

runs-none = Nothing was run yet.
runs-not-held = stopped, can be resumed

show-asked = asked by { $by }, { $at }
show-known-at = known at { $at }
show-trace = trace { $trace }
show-order = { $order }
show-slot = slot { $slot }
show-revised = plan revised: { $why }
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
metrics-period = period
metrics-n = rows
metrics-missing = missing
metrics-not-yet-known = not yet known

sensors-none = This organisation has no sensors.
sensors-name = sensor
sensors-metric = metric
sensors-per = per
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
signal-threshold = Over the threshold
signal-cleared = Back to normal
signal-no-data = No data
signal-not-enough-history = Not enough history
signal-sensor-failed = The sensor failed

## System

settings-all-default = Every setting is at its default.
settings-name = setting
settings-value = value
settings-source = source
settings-default = default
settings-meaning = meaning

audit-clean = The ledger is as it was written: { $events } events.
audit-faults = { $count ->
    [one] { $count } thing is not as it was written.
   *[other] { $count } things are not as they were written.
}
audit-ledger = the ledger
audit-place = { $stream } version { $version }

contracts-written = { $count } schemas written to { $folder }

db-current = The schema is the one of this program.
db-not-current = The schema is not the one of this program; run silicon db upgrade.
db-no-tables = no tables yet
db-address = Database
db-revision = Schema
db-newest = Program

doctor-healthy = Nothing is broken.
doctor-broken = { $count ->
    [one] { $count } thing is broken.
   *[other] { $count } things are broken.
}

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

card-effect-question = { $employee } is about to use { $capability }. May it?
card-effect-impact = { $description } The order says: { $objective } With: { $arguments }
card-effect-do-title = Let it happen, exactly so
card-effect-do-benefit = The work goes on: { $objective }
card-effect-do-risk = { $effect ->
    [irreversible] It cannot be taken back.
   *[other] It changes something outside; taking it back takes another order.
}
card-effect-do-cost = What { $capability } costs with these values.
card-effect-nothing-title = Do nothing
card-effect-nothing-benefit = Nothing is changed.
card-effect-nothing-risk = The order ends without it.
card-effect-nothing-cost = None.

## Cards about an effect in doubt

card-doubt-question = Did { $capability } happen? It was begun, and its answer was lost.
card-doubt-impact = { $description } Begun by { $employee } with: { $arguments }
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
