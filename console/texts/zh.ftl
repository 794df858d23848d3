# 中文。键与 en.ftl 相同，由测试核对。标点用全角，数字与单位之间用不换行空格。

## 状态：执行、任务单、步骤、决策卡

state-pending = 未开始
state-running = 进行中
state-waiting = 等你决定
state-done = 完成
state-partial = 部分完成
state-failed = 失败
state-cancelled = 已取消
state-skipped = 已跳过
state-unfinished = 未完成
state-open = 等你决定
state-closed = 已关闭
state-approved = 已批准
state-denied = 已拒绝
state-expired = 已过期
state-withdrawn = 已撤回
state-superseded = 已被新卡片取代
state-executed = 已执行
state-execution_failed = 执行失败
state-undone = 已撤回

confidence-high = 把握高
confidence-medium = 把握中等
confidence-low = 把握低
confidence-none = 未评估

severity-critical = 危急
severity-high = 高
severity-medium = 中
severity-low = 低

direction-up = 越高越好
direction-down = 越低越好
direction-neutral = 无好坏之分

## 错误与中断

error-unexpected = 出现意外情况；详情见 { $log }。
error-skill-unclear = 无法从目标判断该用哪项技能。用 --skill 指定一项：
error-unknown-id = { $count ->
    [0] 没有 ID 为 { $typed } 的 { $kind }。最近的：{ $candidates }。
   *[other] { $typed } 对应 { $count } 个：{ $candidates }。多输入几个字符。
}
error-unknown-option = { $card } 没有方案 { $option }。可选：{ $options }。
error-card-closed = { $outcome ->
    [approved] { $card } 已由 { $by } 于 { $at } 批准：{ $option }。没有任何更改。
    [denied] { $card } 已由 { $by } 于 { $at } 拒绝。没有任何更改。
    [expired] { $card } 已过期：无人按时决定。没有任何更改。
    [withdrawn] { $card } 已撤回。没有任何更改。
   *[other] { $by } 已于 { $at } 对 { $card } 作出决定。没有任何更改。
}
error-not-allowed-to-decide = { $why ->
    [requester] 这次执行由 { $person } 提出；提出者不能批准。
    [deputy] { $person } 是提出者的代理人；提出者一方不能批准。
    [role] { $person } 没有决定权；需要 approver 或 admin 角色。
    [not_named] { $card } 不由 { $person } 决定。
   *[other] 这个组织中已没有 { $person }。
}
error-execution-busy = { $execution_id } 正由 { $holder } 执行，至少到 { $until }。可用 silicon show 查看进展。
error-organisation-faulty = { $folder } 有 { $faults-count } 处错误；没有执行任何工作。
error-model-required = 步骤 { $step } 需要模型，但没有设置。在设置 { $setting }（环境变量 { $variable }）中指定。
error-server-running = 进程 { $pid } 的服务器已在使用 { $database }；内嵌账本只能有一个服务器。请使用它、停止它，或换一个主文件夹。
error-address-in-use = 无法监听 { $host } 端口 { $port }：{ $error }。请用 --host 和 --port 另选；端口 0 取空闲端口。
error-execution-imported = { $execution_id } 是从文件导入的：可在此用 silicon show 查看，但不会在这里继续。
error-already-here = { $execution_id } 已在此账本中，或已从中清除。未做任何更改。
error-target-in-use = 数据库 { $address } 不为空；备份只能恢复到空数据库。
error-file-in-use = 文件 { $path } 已存在，不会被覆盖。请换一个名称。
error-ledger-unavailable = 账本 { $address } 无法读写：{ $error }。

home-made = 此处及上级没有主文件夹；已创建 { $home }。可用 SILICON_HOME 另行指定。
interrupted = 已停止。没有开始任何工作。
interrupted-resumable = 已停止。已完成的部分都保留；继续执行：{ $command }

## 进度

progress-begun = 本次执行：{ $id }。
progress-accepted = { $employee } 开始 { $skill }
progress-answered = 模型的第 { $number } 次回答

## 等待槽位的任务单

queued-slot = { $ahead ->
    [0] 等待槽位：下一个就是它
   *[other] 等待槽位：前面还有 { $ahead } 个
}
hosts-awaited = 员工宿主：{ $tries } 次启动尝试中已有 { $tried } 次失败，将再次尝试：{ $why }
queued-node = 等待节点：合适的节点都已停止接单或正在排空
queued-labels = { $count ->
   *[other] 等待中：没有节点提供标签 { $names }
}
queued-bridge = 等待中：没有能执行 { $names } 的桥接程序
queued-limits = 等待中：没有节点能保证 { $names }
queued-more = 另有 { $count } 个任务单在等待

## 正在询问的模型

asked-model = 正在询问模型 { $model }（{ $role }），已 { $long }
asked-waits = 排队等待模型 { $model }（{ $role }），已 { $long }
asked-more = 另有 { $count } 个步骤

## 执行结果

outcome-found = 结论
outcome-result = 结果
outcome-failed = 原因
outcome-note = 注意
outcome-done = 已完成
outcome-missing = 未完成
outcome-part = { $step }（{ $whole } 个中缺 { $missing } 个）
outcome-steps-more = ……另有 { $count } 个
outcome-next-partial = 已完成的会保留，不会重做。按它所请求的额度继续：{ $command }
outcome-not-offered-forbidden = 未提供方案 { $option }，因为规则 { $rule } 禁止 { $use }：{ $why }
outcome-not-offered-unclear = 未提供方案 { $option }，因为无法对 { $use } 判断规则 { $rule }：{ $why }
outcome-not-offered-unfit = 未提供方案 { $option }，因为无法调用 { $use }：{ $why }
outcome-branch-failed = 分支 { $branch } 失败，计划未等它而继续：{ $why } [{ $code }]
outcome-branches-more = ……另有 { $count } 个分支失败
outcome-product = 报告
outcome-details = 详情
outcome-took = { $steps } 步，{ $seconds }
outcome-repeated = 这个键已用过，没有重新执行
outcome-imported = 从文件导入：发生在别处，不会在这里继续
outcome-next-failed =
    修好数据或服务后，可从停下的地方继续：{ $command }
    它沿用开始时的组织文件夹；改过文件夹后请重新运行。
outcome-next-forbidden = 继续也会再次被拒绝。请改为规则允许的请求，或修改组织文件夹后重新运行。
outcome-next-no-node = 有合适的节点后，可从停下的地方继续：{ $command }
outcome-next-model = 执行始终使用提出目标时的模型，这次没有模型。请设置模型后重新运行该目标。
outcome-next-running = 另一个进程正在执行。如果它已停止：{ $command }

## 决策卡与决定

card-until = { $deadline } 之前
card-none-of-these = 都不选
card-state = 状态
card-impact = 影响
card-tell-output = 若知道它的结果（{ $names }），请在 { $option } 后加 --output FILE：一个 JSON 对象，供后续步骤读取。
card-told-output = 它的结果：{ $output }
card-who = 由谁决定
card-quorum = 需要几人同意
card-rule = 规则
card-mode-request = 申请者要求更严格
card-mode-serious-error = 曾发生严重错误
card-mode-confidence = 结论不够确凿
card-mode-irreversible = 无法撤回
card-mode-impact = 影响未低于限额
card-mode-no-limit = 规则没有限额
card-mode-nothing-to-do = 没有选项会执行任何操作
card-asked-by = 提出者
card-id = 决策卡
card-execution = 执行
card-decided-for = 同意 { $option }
card-decided-no = 全部拒绝
card-left-out = 此处省略 { $left } 个字符；查看全部：{ $command }
card-argument-long = 共 { $length } 个字符，sha256 { $sha256 }；查看全部：{ $command }
card-was-approved = { $by } 已批准：{ $option }
card-was-denied = { $by } 已拒绝：不选任何方案
card-was-expired = 已过期：无人按时决定，没有执行任何操作
card-was-expired-in-doubt = 已过期：无人按时决定
card-was-withdrawn = 在决定之前已撤回
card-edited = 修改了 { $option }
card-edit-before = 原先
card-edit-after = 现在
card-on-behalf = 代 { $name }
card-was-superseded = 已被询问同一事项的新卡片取代
card-was-passed = 按规则 { $by } 自动通过：{ $option }

option-benefit = 收益
option-risk = 风险
option-cost = 成本
option-undo = 撤销
option-undo-yes = 可以撤销
option-undo-no = 无法撤销
option-nothing-to-undo = 不执行新的操作
option-confidence = 把握
option-does = 将执行
option-undo-does = 撤销方式

approvals-none = 没有等你决定的事项。
approvals-more = 还有更多；用 --limit 显示超过 { $limit } 张。
decide-all-goes-on = 等待的执行由服务器继续；没有服务器时用 silicon resume。
review-none = 没有待复核的事项。
review-set-back = 无论规则如何，此类操作今后都要等人审批。
delegations-none = 目前没有人代他人审批。
cards-rebuilt = 已根据事件重建卡片表：{ $count } 张。
messages-none = 没有任何消息。
approvals-more-needed = 决定已记录：{ $needed } 人中已有 { $given } 人。其他人同意之前，决策卡保持打开。
decide-yes = 批准 { $option }：{ $title }
decide-not-told = 只记录了它已完成。需要 { $names } 的步骤将会失败；可用 --output FILE 告知。
decide-no = 拒绝：不选任何方案
decide-does = 将会发生：{ $action }
decide-reversible = 可以撤销。
decide-irreversible = 无法撤销。

up-listening = 正在监听 { $address }（进程 { $pid }）。Ctrl-C 或 SIGTERM 停止。
up-for = 处理这些组织的执行：{ $organisations }。
up-for-all = 处理此账本中文件夹在本机的所有执行。
up-token = 首个令牌（管理员），只显示这一次：
up-stopping = { $count ->
    [0] 正在停止。
   *[other] 正在停止：{ $count } 项执行有 { $seconds } 秒完成进行中的步骤。再按一次立即停止。
}
up-stopped = 已停止。未完成的工作会在服务器再次运行时继续，也可用 silicon resume 继续。
cancel-told = 另一个进程正在执行，已通知它停止。
cancel-branch-told = 另一个进程正在执行，已通知它停止分支 { $branch }。
cancel-branch-ended = 分支 { $branch } 此前已结束，没有取消任何内容。
cancel-branch = 分支 { $branch } 已取消，其余部分继续执行。
cancel-in-doubt = 已取消。有一项执行结果不明，请有人告知；在此之前不做任何事，也不会再次执行。
cancel-too-late = 它此前已结束，没有取消任何内容。

## 执行列表与详情

runs-none = 还没有执行过任何工作。
runs-none-left = 这里已没有任何执行：执行过的都已按保留期清除。
runs-none-of = 这里没有 { $organisation } 的执行。
runs-not-held = 已停下，可继续

show-asked = { $by } 提出，{ $at }
show-known-at = 已知信息截至 { $at }
show-trace = 追踪 { $trace }
show-order = { $order }
show-slot = 工位 { $slot }
show-revised = 计划已修改：{ $why }
show-refused = 规则 { $rule } 拒绝了 { $use }（步骤 { $step }，请求 { $request }）
show-seal = 证据已封存 { $seal }
show-damaged = （已损坏：请运行 silicon audit verify）
show-result = 结果
show-query = 查询
show-data = 数据
show-evidence = { $count } 份证据
show-attempts = 尝试 { $count } 次
show-file = 文件 { $name }
show-waits-for = 等待 { $id }
show-how = { $command } 显示某一步给出的内容。
prompts-size = 第 { $answer } 个回答，{ $size } 个字符，端点报告 { $tokens } 个 token
prompts-differs = 这是现在会组成的样子；当时发出的内容哈希不同，此后设置或程序有变。
prompts-left-out = 略去：{ $origin }：{ $why }（{ $size } 个字符）
prompts-tools = 工具：{ $tools }
prompts-none = 这里没有模型作答；没有得到回答的请求见 `silicon events`（model.unreachable、model.stopped）。
given-nothing = 它没有向后传递任何内容。
given-not-yet = 它尚未给出任何内容。
given-parts = 它给出的内容由 { $parts } 组成。
given-more = { $count ->
    [0] 过长的行已截断；--full 显示全部。
   *[other] ……另有 { $count } 行；--full 显示全部，--json 给出完整的值。
}

summary-items = { $count } 项
summary-fields = { $count } 个字段
summary-missing = 缺失
summary-yes = 是
summary-no = 否
summary-more = ……另有 { $count } 项

## 组织

check-faults = { $count } 处错误。没有执行任何工作。
check-good = { $organisation } 没有错误。
check-count-employees = { $count } 名员工
check-count-skills = { $count } 项技能
check-count-metrics = { $count } 个指标
check-count-sensors = { $count } 个传感器
check-count-rules = { $count } 条规则
check-count-people = { $count } 人
check-count-connections = { $count } 个连接

init-made = 已建立 { $folder }：一家有四周销售数据的面包店。
init-next = 下一步：

## 指标与传感器

costs-none = 这段时间没有任何花费。
costs-by-step = 步骤
costs-by-agent = 员工
costs-by-process = 流程
costs-by-department = 部门
costs-by-model = 模型
costs-by-day = 日期
costs-no-step = （无步骤）
costs-no-agent = （未知）
costs-no-process = （没有技能的目标）
costs-no-department = （未知）
costs-no-model = （无模型）
costs-no-day = （未知）
costs-money = 金额
costs-tokens-in = 输入词元
costs-tokens-out = 输出词元
costs-seconds = 秒
costs-steps = 步数
costs-total = 合计
costs-unknown = { $count } 次价格未知
costs-no-budgets = 没有任何部门或流程设有预算。
budgets-budget = 预算
budgets-window = 周期
budgets-limit = 限额
budgets-most = 上限
budgets-spent = 已用
budgets-reserved = 预留
budgets-left = 剩余
costs-rebuilt = 成本已重新统计，截至事件 { $position }。

rules-none = 该组织没有规则。
rules-name = 规则
rules-applies-to = 适用于
rules-check = 执行方式
rules-breach = 违反后果
rules-examples = 示例
rules-text = 内容
rules-version = 版本
rules-everything = 一切会改变外部的操作
rules-by-code = 由代码检查
rules-told-only = 仅告知
rules-unsaid = 未说明
rules-breach-damages-data = 损坏数据
rules-breach-stops-service = 中断服务
rules-breach-fails-silently = 静默失败
rules-breach-inconvenient = 仅造成不便
rules-lets-pass = 放行
rules-refuses = 拒绝
rules-none-refused = 没有规则拒绝过任何操作。
rules-times = 拒绝次数
rules-at = 时间（UTC）
rules-action = 操作
rules-step = 步骤
rules-execution = 执行
rules-tested = { $count } 个示例，其中 { $failed } 个与预期不符。
metrics-none = 这个组织没有指标。
metrics-no-values = 没有对应的值。
metrics-name = 指标
metrics-title = 名称
metrics-meaning = 含义
metrics-unit = 单位
metrics-value = 值
metrics-rests-on = 依据
metrics-over = 数据行
metrics-grains = 周期
metrics-dimensions = 维度
metrics-good = 好坏
metrics-owner = 负责人
metrics-freshness = 周期结束后数据最迟到达
metrics-watched-by = 监视它的传感器
metrics-nobody = 无
metrics-version = 版本
metrics-in-force = 生效时间
metrics-defined = 首次定义，{ $at } 由 { $by } 首次读取
metrics-changed = 已更改，{ $at } 由 { $by } 首次读取
metrics-removed = 已移除，{ $at } 由 { $by } 首次发现
metrics-begin-anew = 重新开始的传感器：{ $sensors }
metrics-go-on = 数值不变，这些传感器继续工作：{ $sensors }
metrics-period = 周期
metrics-n = 行数
metrics-missing = 缺失
metrics-not-yet-arrived = 尚未到达

sensors-none = 这个组织没有传感器。
sensors-name = 传感器
sensors-watches = 监视
sensors-next = 下次
sensors-last = 上次
sensors-rule-skipped = 跳过时:
sensors-rule-repeated = 重复时:
sensors-rule-catch_up = 错过时:
sensors-failed = { $sensor } 在 { $at } 失败：{ $message }
sensors-open = { $sensor }：{ $slices } 尚未结束
sensors-recalibrated = { $sensor }：因 { $metric } 已更改，于 { $at } 重新开始
sensors-usual = （预期 { $expected }，通常在 { $low } 至 { $high } 之间）
sensors-held-back = { $sensor } 被抑制 { $count } 次，最近一次的原因：{ $why }
sensors-when = 条件
sensors-severity = 重要程度
sensors-raises = 触发
sensors-looked = { $sensors } 个传感器查看了 { $buckets } 个周期，已知信息截至 { $at }
sensors-merged = { $count } 个信号此前已触发
sensors-quiet = 没有需要报告的情况。
signal-threshold = 越过阈值
signal-cleared = 恢复正常
signal-no-data = 没有数据
signal-not-enough-history = 历史数据不足
signal-sensor-failed = 传感器故障
signal-metric-changed = 定义已更改
signal-event = 事件

## 系统

settings-all-default = 所有设置都是默认值。
settings-name = 设置
settings-value = 值
settings-source = 来源
settings-default = 默认
settings-meaning = 含义

audit-clean = 账本与写入时一致：{ $events } 个事件{ $pruned ->
    [0] {""}
   *[other] ，其中 { $pruned } 个已清除
}。
audit-faults = { $count } 处与写入时不一致。
audit-ledger = 账本
audit-place = { $stream } 版本 { $version }

evidence-sealed = { $count } 项，封存于 { $at }，封印 { $seal }
evidence-seal-open = 尚未封存：任务仍在进行
evidence-seal-none = 未封存：任务未使用槽位；以下为账本所示
evidence-seal-missing = 从未封存
evidence-nothing = 没有任何内容。
evidence-left = { $path } 留在了槽位中：{ $why }
evidence-erased = { $count } 个事件已被永久擦除，其内容无法再比对。
evidence-kind-call = 调用
evidence-kind-file = 文件
evidence-kind-screenshot = 截图
evidence-kind-rows = 数据行
evidence-kind-receipt = 回执
evidence-stored = 已存原文
evidence-ledger = 在账本中
evidence-hash = 仅存哈希
evidence-removed = 已删除
evidence-files = 另有 { $count } 个文件合为一项，{ $first } 至 { $last }
evidence-rows = { $count } 行
evidence-clean = 全部证据与当时一致：{ $orders } 个任务，{ $items } 项。
evidence-no-items = 没有可核验的内容：{ $orders } 个任务没有留下任何证据。
evidence-faults = { $count } 处与当时不一致。

contracts-written = 已将 { $count } 个模式写入 { $folder }

db-current = 数据库结构与本程序一致。
db-not-current = 数据库结构与本程序不一致；运行 silicon db upgrade。
db-no-tables = 还没有表
db-address = 数据库
db-revision = 结构版本
db-newest = 程序版本

backup-made = 已将截至位置 { $events } 的全部内容复制到 { $file }（{ $size }），并审计了副本。
backup-faults = 账本有 { $count } 处问题，副本也是如此。请运行 silicon audit verify。
restore-done = 已将 { $file } 恢复到 { $address }，截至位置 { $events }。

prune-keeps-all = 执行会永久保留；可用 retention.executions_days 或 --days N 更改。
prune-did = 已永久清除 { $executions } 个执行（{ $events } 个事件）。
prune-would = 将清除 { $executions } 个执行（{ $events } 个事件）。未做任何更改。
prune-beside = 另外：{ $blobs } 个不再被引用的数据块（{ $size }），{ $fragments } 条仅用于流式显示的片段
prune-held = { $count } 个因法律保留而未清除
prune-in-use = { $count } 个未清除：正在运行，或有卡片等待决定
prune-free = 文件中有 { $size } 空闲，会被再次使用；--compact 可将其归还
prune-not-compacted = 文件未能缩小（其中有 { $size } 空闲）：另一个程序正在使用它。请稍后再试。
hold-placed = { $execution } 将完整保留，直到解除保留（由 { $by } 设置）。
hold-released = { $execution } 已解除保留；由 { $by } 于 { $at } 设置：{ $reason }
hold-by = 设置者
hold-since = 设置时间
hold-reason = 原因
holds-none = 没有处于保留状态的执行。
export-done = { $execution } 已写入 { $file }：{ $events } 个事件，{ $size }。
import-done = { $execution } 可在此查看：{ $events } 个事件。它不会在这里运行。

doctor-healthy = 没有发现损坏。
doctor-more = ……另有 { $count } 处；silicon check 显示全部。
doctor-broken = { $count } 处损坏。

cluster-no-nodes = 没有节点。silicon up 和 silicon cluster serve 可提供节点。
cluster-state = { $state ->
    [open] 可用
    [cordoned] 已封锁
    [draining] 正在排空
   *[lost] 已失联
}
cluster-taken = { $slots } 个槽位中已占用 { $taken } 个
cluster-beat = 最近心跳 { $at }
cluster-closed-by = 由 { $name }（{ $via }）于 { $at } 关闭
cluster-cannot = 无法保证：{ $names }
cluster-free = 空闲
cluster-warm = 空闲，已预热
cluster-order-state = { $state ->
    [queued] 排队中
    [assigned] 已分配
    [running] 执行中
    [reported] 已报告
   *[left] 提交者已离开
}
cluster-priority = 优先级 { $priority }
cluster-losses = 失去过 { $count } 个槽位
cluster-waiting = { $count ->
    [0] 没有任务单在等待槽位。
   *[other] { $count } 个任务单在等待槽位。
}
cluster-cordoned = { $node } 不再接受新任务单。
cluster-opened = { $node } 重新接受任务单。
cluster-draining = { $node } 不再接受新任务单；仍有 { $count } 个槽位被占用。
cluster-drained = { $node } 已排空，不再接受新任务单。
cluster-serving = 提供 { $node }，{ $slots } 个槽位（进程 { $pid }）。Ctrl-C 或 SIGTERM 停止。
cluster-labels = 标签：{ $labels }
cluster-stopping = { $count ->
    [0] 正在停止。
   *[other] 正在停止：{ $count } 个任务单有 { $seconds } 秒完成进行中的步骤，之后在别处继续。再按一次立即停止。
}
cluster-stopped = 已停止。其任务单在其他节点继续。

## 报告

report-sources = 来源
report-missing = 缺失
report-yes = 是
report-no = 否
report-no-rows = 没有数据行。
report-table-source = 本表来源：
report-more-rows = 来源中还有 { $count } 行
report-source-computed = 计算自
report-source-input = 随任务单给出：
report-source-query = 查询
report-source-data = 数据
report-source-result = 结果

## 执行前的决策卡

card-effect-question = 是否允许 { $employee } 使用 { $capability }？
card-effect-impact =
    { $description }
    任务单：{ $objective }
card-effect-do-title = 允许，按所示内容执行
card-effect-do-benefit = 工作继续。
card-effect-do-risk = { $effect ->
    [irreversible] 无法撤销。
   *[other] { $way_back ->
        [none] 会改变外部系统，任务单没有写明如何撤销。
       *[other] 会改变外部系统；工作若被取消，由 { $way_back } 撤销。
    }
}
card-effect-do-cost = { $capability } 按这些参数产生的费用。
card-effect-nothing-title = 不做
card-effect-nothing-benefit = 什么都不会改变。
card-effect-nothing-risk = 任务单不含这一步就结束。
card-effect-nothing-cost = 无。

## 结果不明的决策卡

card-doubt-question = { $capability } 是否已经执行？它已开始，但答复丢失。
card-doubt-impact =
    { $description }
    任务单：{ $objective }
    { $arguments ->
        [none] 由 { $employee } 开始，没有参数。
       *[other] 由 { $employee } 开始，参数：{ $arguments }
    }
card-doubt-happened-title = 已经执行
card-doubt-happened-benefit = 工作继续，不会重复执行。
card-doubt-happened-risk = 如果其实没有执行，就会缺少这一步。
card-doubt-happened-cost = 无。
card-doubt-again-title = 没有执行，现在执行
card-doubt-again-benefit = 确保已执行。
card-doubt-again-risk = 如果其实已经执行，就会执行两次。
card-doubt-again-cost = { $capability } 按这些参数产生的费用。
card-doubt-stop-title = 到此为止
card-doubt-stop-benefit = 有人查看之前，不再做任何事。
card-doubt-stop-risk = 任务单没有结果就结束。
card-doubt-stop-cost = 无。

## 取消之后，关于结果不明的执行

card-cancelled-question = { $capability } 是否已经执行？执行途中工作被取消。
card-cancelled-impact =
    { $description }
    任务单：{ $objective }
    { $arguments ->
        [none] 由 { $employee } 开始，没有参数。
       *[other] 由 { $employee } 开始，参数：{ $arguments }
    }
    无论如何回答，都不会再次执行。
card-cancelled-happened-title = 已经执行
card-cancelled-happened-benefit = { $way_back ->
    [none] 取消就此结束，并记录其结果仍然存在。
   *[other] 现在由 { $way_back } 撤销。
}
card-cancelled-happened-risk = { $way_back ->
    [none] 系统不会撤销它：请手工处理。
   *[other] 如果其实没有执行，就会撤销从未发生的事。
}
card-cancelled-happened-cost = { $way_back ->
    [none] 无。
   *[other] { $way_back } 产生的费用。
}
card-cancelled-not-title = 没有执行
card-cancelled-not-benefit = 取消就此结束，没有需要撤销的内容。
card-cancelled-not-risk = 如果其实已经执行，其结果将保留。
card-cancelled-not-cost = 无。
card-cancelled-stop-title = 无人知道
card-cancelled-stop-benefit = 取消就此结束，并记录此事不明。
card-cancelled-stop-risk = 如果已经执行，其结果将保留，不会撤销。
card-cancelled-stop-cost = 无。

## 关于访问被拒绝

card-access-question = { $capability } 的访问被拒绝。接下来怎么办？
card-access-impact =
    { $description }
    任务单：{ $objective }
    { $arguments ->
        [none] 由 { $employee } 调用，没有参数。
       *[other] 由 { $employee } 调用，参数：{ $arguments }
    }
    对方答复：{ $why }
card-access-again-title = 已获授权：再试一次
card-access-again-benefit = 工作凭 { $capability } 的结果继续。
card-access-again-risk = 它会凭所授权限，按原样再调用一次。
card-access-again-cost = { $capability } 按这些参数产生的费用。
card-access-done-title = 已手工完成
card-access-done-benefit = 工作继续，不再调用任何功能。
card-access-done-risk = 没有说明的结果，后续步骤无法读取。
card-access-done-cost = 无。
card-access-leave-title = 放弃
card-access-leave-benefit = 没有人获得更多权限。
card-access-leave-risk = 该步骤因无权访问而失败。
card-access-leave-cost = 无。

## 结论：超出部分的原因

finding-condition = 已知情况
finding-unit = 项
finding-hit = 符合
finding-explained = 原因：{ $condition }。{ $n } 个{ $unit }中 { $hits } 个{ $hit }（{ $rate }，平常 { $usual }），比平常多 { $excess } 个；其中 { $share } 在此影响之下，涉及 { $sites }。
finding-slice =
    原因：{ $causes }。总计 { $n } 个{ $unit }中 { $hits } 个{ $hit }（{ $rate }，平常 { $usual }），比平常多 { $excess } 个；除去它其余正常。{ $beside ->
        [0] {""}
       *[other] 此外突出、但不认定为原因的：{ $also }。
    }
finding-not-explained = 数据无法解释：{ $n } 个{ $unit }中 { $hits } 个{ $hit }（{ $rate }，平常 { $usual }），比平常多 { $excess } 个。
finding-nothing-unusual = 没有异常：{ $n } 个{ $unit }中 { $hits } 个{ $hit }（{ $rate }，平常 { $usual }）。
finding-inconclusive = 数据太少，无法判断：{ $n } 个{ $unit }中 { $hits } 个{ $hit }。

## Promises: what was expected against what happened

calibration-none = 尚未评判任何承诺。
calibration-skill = 技能
calibration-label = 标签
calibration-promised = 承诺
calibration-came-true = 实现
calibration-interval = 区间
calibration-judged-count = 已评判
calibration-shown = 显示为
calibration-brier = Brier 分数 { $brier }（0 为完美，0.25 等于总说一半）
calibration-judged = 评判了 { $judged } 个，{ $waiting } 个还在等
calibration-changed = 从现在起 { $label } 显示为 { $shown }。
calibration-proposed = 提议一个新技能：{ $command }
calibration-no-gaps = 没有发现缺口。
calibration-cases = { $cases } 个案例
calibration-promise = { $period } 的 { $metric } 应变化 { $low } 至 { $high }：{ $what }
calibration-why-no-value = 没有数值
calibration-why-definition-changed = 指标的定义已改变
calibration-why-metric-gone = 指标已不存在
option-expects = 预期
option-expects-line = { $period } 的 { $metric } 从 { $baseline } 变化 { $change }（{ $low } 至 { $high }）
option-corrected = （由{ $was }修正：这类承诺 { $n } 个中实现了 { $kept } 个，应为 { $promised } %）

## Gaps: a skill that seems to be missing

gap-question = { $cases } 次执行以同样的方式结束：“{ $about }”。要编写一个新技能吗？
gap-impact-failure = { $skill } 的任务在 { $cases } 次执行中因同样的错误失败。案例都在这张卡上，`silicon calibration gaps` 显示技能草稿；不会自行改变任何东西。
gap-impact-hand-over = 这类目标在 { $cases } 次执行中都要由人指定技能。案例都在这张卡上，`silicon calibration gaps` 显示技能草稿；不会自行改变任何东西。
gap-impact-by-hand = { $about } 的调用被对方拒绝，在 { $cases } 次执行中由人代为完成。案例都在这张卡上，`silicon calibration gaps` 显示技能草稿；不会自行改变任何东西。
gap-draft-title = 按草稿编写
gap-draft-benefit = 这样的 { $cases } 个案例就能完成。
gap-draft-risk = 为不会再发生的事编写技能。
gap-draft-cost = 需要有人花时间；与任何改动一样要经过关卡。
gap-nothing-title = 保持现状
gap-nothing-benefit = 不花费任何东西。
gap-nothing-risk = 下一个案例会像这 { $cases } 个一样结束。
gap-nothing-cost = 无。

## Disputed memories

dispute-question = 曾决定：“{ $older }” 现在说：“{ $newer }” 哪个有效？
dispute-impact = 在有人决定之前，较早的有效，较新的不会告知任何人。
dispute-newer-title = 较新的有效
dispute-newer-benefit = 之前的决定被取代；其历史保留。
dispute-newer-risk = 取代了有人有理由作出的决定。
dispute-older-title = 较早的保留
dispute-older-benefit = 之前的决定继续有效；较新的被撤回。
dispute-older-risk = 期间的变化无人知晓。
dispute-cost = 无。

## Explanations: why a metric is what it is

explain-slice = { $period }的{ $metric }为 { $value }，平常 { $usual }。来自{ $dimension } { $causes }；除去它其余正常。
explain-driver = { $period }的{ $metric }为 { $value }，平常 { $usual }。{ $driver }与之同动（秩相关 { $correlation }，{ $lag ->
        [0] 同时
        [1] 早一个周期
       *[other] 早 { $lag } 个周期
    }），且同样远离平常。同动不等于因果。
explain-mix = { $period }的{ $metric }为 { $value }，平常 { $usual }。变化的是按{ $dimension }的构成，而不是各分组本身。
explain-broad = { $period }的{ $metric }为 { $value }，平常 { $usual }。所查的都不能解释：没有一个分组除去后其余正常，也没有同动且同样远离平常的指标。
explain-usual = 没有异常：{ $period }的{ $metric }为 { $value }，平常 { $usual }（{ $low } 至 { $high }）。
explain-inconclusive = { $period }的{ $metric }为 { $value }。无法判断是否异常：{ $why }。
explain-no-value = { $period }没有{ $metric }的数值。这是记录的缺口，并不说明下降。
explain-not-arrived = { $period }的{ $metric }尚未到达。无法对其下结论。
explain-beside = 突出、但不认定为原因的：{ $slices }。
explain-why-history-too-short = 先前的周期太少
explain-why-too-many-gaps = 先前缺值的周期太多
explain-why-no-value = 没有数值
explain-why-constant = 先前的数值全都相同
explain-why-not-over = 该周期尚未结束，数值还会增长
explain-why-found = 已判断

## Dead letters of the bus

letters-none = 没有死信。
letters-given-up = { $at } 试了 { $tries } 次后放弃：{ $error }
letters-group = 消费组
letters-tries = 次数
letters-error = 失败原因
letters-event = 事件
letters-pruned = 已被清理
letters-retried = { $letter } 再次交给 { $group }，次数重新计算。
letters-dropped = { $letter } 已永久放弃：{ $group } 不会再处理它。

## Tokens of the HTTP API

tokens-made = 请现在保存此令牌，之后不再显示：
tokens-same-name = 同样名为“{ $name }”且仍然有效的还有：{ $tokens }。不再需要的，请用 `silicon tokens revoke` 吊销。
tokens-none = 还没有令牌。
tokens-revoked = 此令牌已失效。
tokens-anybody = 任何人，所有组织
tokens-bridge = 桥接程序，承接 { $organisations } 的任务
tokens-acts-as = 代表
tokens-id = 令牌
tokens-created = 创建
tokens-revoked-at = 吊销
tokens-expires = 有效期至
tokens-used = 上次使用
users-rights = 权限
users-everywhere = 所有部门：{ $roles }
users-password = 密码
users-password-again = 再输入一次
users-none = 无
users-signed-in = 上次登录
users-tokens = 令牌
users-locked = 已锁定

## 提议放宽审批方式的卡片

card-loosen-question = { $capability } 已连续正确 { $times } 次。可以放宽审批方式吗？
card-loosen-impact = 在规则 { $rule } 下，{ $capability } 今后将以 { $mode } 方式决定。
card-loosen-title = 改为 { $mode } 方式
card-loosen-benefit =
    { $mode ->
        [threshold] 影响低于规则 { $rule } 的限额且结论确凿时，不再等人审批。
       *[other] 能撤回且结论确凿的操作会立即执行并告知。
    }
card-loosen-risk = 错误只能事后发现。复核中认定一次严重错误，即恢复为 strict。
card-loosen-cost = 无。
card-keep-title = 保持不变
card-keep-benefit = 每一项执行前都有人过目。
card-keep-risk = 人们仍要审批长期未被否决的事项。

## 自动通过的事项

card-passed-told = { $question } 按规则 { $rule }（{ $mode }）未经人工审批执行：{ $option }
card-passed-undo = 在 { $until } UTC 之前可以撤回：silicon approvals undo { $card }

## Alerts and attention

alerts-none = 没有警报。
alerts-state-open = 未处理
alerts-state-acknowledged = 已接手
alerts-state-resolved = 已结束
alerts-state-closed = 已关闭
alerts-signals = { $count } 个信号，重复 { $repeated } 次
alerts-last = 最近 { $at }
alerts-taken-by = 由 { $by } 接手
alerts-told = 已通知 { $to }
alerts-until = 至 { $at }
alerts-labels = 标签
alerts-priority = 优先级
alerts-priority-of = { $priority }（影响 { $impact } × 紧急 { $urgency }）
alerts-severity = 严重程度
alerts-route = 路由
alerts-opened = 提出于
alerts-silence = 由 { $by } 静默至 { $at }：{ $reason }
alerts-would-silence = 将静默 { $count } 个未结束的警报：
alerts-nothing-made = 尚未静默；加 --yes 才会生效。
alerts-silenced = 已静默 { $count } 个未结束的警报。
alerts-lifted = 静默 { $id } 已解除。
alerts-why-silenced = 已静默
alerts-why-maintenance = 维护时段
alerts-why-inhibited = 由另一警报解释
alerts-why-flapping = 反复出现
alerts-why-acknowledged = 已有人接手
alerts-why-over = 已结束
alerts-why-seen-to = 已处理过
alerts-why-no-room = 其他警报优先
alerts-why-anomalies = 出现异常
alerts-why-calm = 平静
alerts-why-bounds = 范围已改
alerts-why-start = 初始值
degree-high = 高
degree-medium = 中
degree-low = 低
attention-none = 没有未结束的警报。
attention-severity = 严重
attention-timeliness = 时效
attention-impact = 影响
attention-waiting = 等待
attention-sensor = 传感器
attention-looks-every = 查看间隔
attention-because = 原因
attention-since = 自

## Heartbeat

heartbeat-on = 开启，每 { $every }
heartbeat-off = 关闭
heartbeat-beat = 心跳
heartbeat-watched-by = 值守者
heartbeat-nobody = 无；服务器只为启动时给出的文件夹值守
heartbeat-last = 上一轮
heartbeat-quiet = 无事的查看
heartbeat-waiting = 等待空位
heartbeat-work = { $days } 天内：为目标 { $goal } 项，自身事务 { $meta } 项（上限 { $most }），拒绝 { $refused } 项。
heartbeat-day = 日期
heartbeat-goal = 目标
heartbeat-meta = 自身事务
heartbeat-refused = 拒绝
heartbeat-rounds = 轮次
## 通过 webhook 和邮件告知的内容

told-card-raised = 需要决定：{ $question }
told-card-reminded = 仍待决定：{ $question }
told-card-edited = 已修改，请重新决定：{ $question }
told-card-escalated = 无人及时决定，现转交给您：{ $question }
told-card-expired = 未作决定即过期：{ $question }
told-until = 请在 { $deadline } 之前决定。
told-question = 问题：{ $question }
told-notification = { $employee }：{ $text }
told-alert-news = 告警：{ $kind }，{ $source }{ $beside ->
        [0] {""}
       *[other] 及另外 { $beside } 项
    }
told-alert-repeat = 仍未解除：{ $kind }，{ $source }{ $beside ->
        [0] {""}
       *[other] 及另外 { $beside } 项
    }
told-alert-escalation = 无人处理：{ $kind }，{ $source }{ $beside ->
        [0] {""}
       *[other] 及另外 { $beside } 项
    }

deliveries-none = 没有待发送的消息。
deliveries-waiting = 等待中
deliveries-sent = 已送达
deliveries-dead = 已放弃
deliveries-dropped = 已取消
deliveries-retried = 下一个查看的服务器会重试。

# Memories
memory-none = 没有记忆。
memory-more = 还有更多：--after { $id }
memory-nothing-found = 没有合适的记忆。
memory-no-room = 还有 { $count } 条符合问题，但放不下。
memory-nothing-new = 没有值得记住的新内容。
memory-rebuilt = 已从账本重新读出 { $count } 条记忆。
memory-cycle-held = 今天已经运行过一次。
memory-cycle = 查看了 { $looked } 条：{ $faded } 条变淡，{ $archived } 条归档；此前未运行的天数：{ $missed }。
products-none = 没有符合的产出。
products-kind-report = 报告
products-kind-decision = 决策
products-kind-insight = 洞察
products-execution = 执行
products-step = 产出者
products-intent = 目的
products-labels = 标签
products-files = 文件
products-sources = 有来源的数字
products-versions = 同键版本
products-skill = 技能
products-folder = 固定的文件夹
products-upstream = 基于 { $count } 个步骤
products-made-in = 产出于
products-downstream = 由此产生 { $count } 个步骤
products-drawn = 已绘制到 { $file }。
products-rebuilt = 已从账本重新读取 { $count } 个产出。
knowledge-linted = { $entries } 个条目，{ $bodies } 篇正文：{ $faults ->
    [0] 无
   *[other] { $faults } 处
}需修正，{ $listed } 处列出。
knowledge-mended = 已修正：{ $count } 处。
knowledge-layer-resident = 常驻层：{ $why }。
knowledge-layer-body = 索引与正文：{ $why }。
knowledge-layer-log = 日志：{ $why }。
knowledge-written = 内容在 { $path }。
knowledge-entry = 条目在 { $path }。
profile-none = 没有关于 { $person } 的了解。
profile-depth-form = 如何回答
profile-depth-attention = 关注什么
profile-depth-thinking = 如何解释
profile-guidance = 告知员工的内容
profile-own = 本人设定
erasure-would = 将删除 { $person } 的：{ $memories } 条记忆、{ $conversations } 次对话（{ $turns } 个事件）、{ $profile } 个档案事件、{ $files } 个文件。
erasure-done = 已删除 { $person } 的：{ $memories } 条记忆、{ $conversations } 次对话（{ $turns } 个事件）、{ $profile } 个档案事件、{ $files } 个文件、{ $blobs } 个数据块、{ $vectors } 个向量。
erasure-stays = 工作记录保留：其请求的 { $executions } 次执行、其作出的 { $cards } 个决定。
erasure-named = 有 { $count } 条企业或员工的记忆提到此人，请查看：{ $ids }
erasure-sure = 尚未删除：用 --yes --reason TEXT 执行。
memory-page-project = 关于该项目的记忆
memory-page-global = 一般记忆
memory-page-raw = 记忆；尚未整合
memory-page-rests = 基于 { $count } 条记忆{ $left ->
    [0] 。
   *[other] ；另有 { $left } 条放不下。
}
memory-shelf-told = { $requests ->
    [0] 整合为 { $lines } 行
   *[other] 整合为 { $lines } 行；请求模型 { $requests } 次，{ $tokens } 个 token
}
memory-shelf-unchanged = 自上次整合以来没有写入或遗忘
memory-shelf-busy = 另一个进程正在处理
memory-shelf-unfinished = 模型未能处理全部内容；下次继续
memory-erased = { $id } 的内容已永久删除。
memory-erased-not-execution = 写下它的执行中的记录仍保留在 { $id }，直到被清理（`silicon db prune`）。
memory-holder-person = 属于 { $name }
memory-holder-agent = 属于员工 { $name }
memory-holder-business = 属于业务
memory-class-rule = 规则
memory-class-fact = 事实
memory-class-preference = 偏好
memory-class-decision = 决定
memory-class-task = 任务
memory-class-session = 仅限本次对话
memory-class-other = 记录
memory-state-active = 有效
memory-state-superseded = 已被取代
memory-state-disputed = 有争议，等待人工决定
memory-state-archived = 已归档
memory-state-withdrawn = 已撤回
memory-state-erased = 已删除
memory-importance = 重要性 { $value }
memory-confidence = 可信度 { $value }
memory-version = 版本
memory-source = 来源
memory-valid = 有效期
memory-read = 最近读取
memory-about = 内容
memory-entities = 名称
memory-supersedes = 取代
memory-superseded-by = 被取代于
memory-disputes = 与之矛盾
memory-part-words = 词语
memory-part-meaning = 含义
memory-part-phrase = 短语
memory-part-fresh = × 新近
memory-part-personal = × 个人
memory-became-written = 已记住
memory-became-reinforced = 早已知道，现在更可信
memory-became-supersedes = 已记住，取代了旧的
memory-became-disputed = 等待人工决定
memory-became-left = 不值得记住
memory-became-shown-before = 只是重复了显示过的内容
memory-became-there = 早已记住
memory-exported = { $memories } 条记忆；写入文件：{ $files }，未变：{ $same }
memory-export-edited = { $file } 有尚未导入的修改，因此未覆盖：请运行 silicon memory import，或使用 --overwrite。
memory-import-untouched = 未改动的条目：{ $count }
memory-import-missing = { $count } 条记忆已不在任何文件中，未作改动；使用 --withdraw-missing 可撤回它们。
memory-taken-changed = 已修改
memory-taken-added = 已记住
memory-taken-replaces = 已记住，取代旧记忆
memory-taken-disputed = 等待人工决定
memory-taken-known = 已有记忆
memory-taken-missing = 缺失
memory-taken-withdrawn = 已撤回
memory-taken-conflict = 冲突
memory-taken-fault = 有误
memory-taken-edited = 文件
memory-taken-stands = 记忆
memory-taken-before = 之前
