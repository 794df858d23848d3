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
state-open = 等你决定
state-closed = 已关闭
state-approved = 已批准
state-denied = 已拒绝
state-expired = 已过期
state-withdrawn = 已撤回

confidence-high = 把握高
confidence-medium = 把握中等
confidence-low = 把握低

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
error-ledger-unavailable = 账本 { $address } 无法读写：{ $error }。

interrupted = 已停止。没有开始任何工作。
interrupted-resumable = 已停止。已完成的部分都保留；继续执行：{ $command }

## 进度

progress-accepted = { $employee } 开始 { $skill }

## 执行结果

outcome-found = 结论
outcome-result = 结果
outcome-failed = 原因
outcome-product = 报告
outcome-details = 详情
outcome-took = { $steps } 步，{ $seconds }
outcome-repeated = 这个键已用过，没有重新执行
outcome-next-failed =
    修好数据或服务后，可从停下的地方继续：{ $command }
    它沿用开始时的组织文件夹；改过文件夹后请重新运行。
outcome-next-running = 另一个进程正在执行。如果它已停止：{ $command }

## 决策卡与决定

card-until = { $deadline } 之前
card-none-of-these = 都不选
card-state = 状态
card-impact = 影响
card-who = 由谁决定
card-quorum = 需要几人同意
card-rule = 规则
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

option-benefit = 收益
option-risk = 风险
option-cost = 成本
option-undo = 撤销
option-undo-yes = 可以撤销
option-undo-no = 无法撤销
option-nothing-to-undo = 不采取行动
option-confidence = 把握
option-does = 将执行
option-undo-does = 撤销方式

approvals-none = 没有等你决定的事项。
approvals-more-needed = 决定已记录：{ $needed } 人中已有 { $given } 人。其他人同意之前，决策卡保持打开。
decide-yes = 批准 { $option }：{ $title }
decide-no = 拒绝：不选任何方案
decide-does = 将会发生：{ $action }
decide-reversible = 可以撤销。
decide-irreversible = 无法撤销。

cancel-told = 另一个进程正在执行，已通知它停止。
cancel-too-late = 它此前已结束，没有取消任何内容。

## 执行列表与详情

runs-none = 还没有执行过任何工作。
runs-not-held = 已停下，可继续

show-asked = { $by } 提出，{ $at }
show-known-at = 已知信息截至 { $at }
show-trace = 追踪 { $trace }
show-order = { $order }
show-slot = 工位 { $slot }
show-revised = 计划已修改：{ $why }
show-seal = 证据已封存 { $seal }
show-damaged = （已损坏：请运行 silicon audit verify）
show-result = 结果
show-query = 查询
show-data = 数据
show-evidence = { $count } 份证据
show-attempts = 尝试 { $count } 次
show-file = 文件 { $name }
show-waits-for = 等待 { $id }

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
metrics-period = 周期
metrics-n = 行数
metrics-missing = 缺失
metrics-not-yet-known = 尚未知晓

sensors-none = 这个组织没有传感器。
sensors-name = 传感器
sensors-metric = 指标
sensors-per = 周期
sensors-when = 条件
sensors-severity = 重要程度
sensors-raises = 触发
sensors-looked = { $sensors } 个传感器查看了 { $buckets } 个周期，已知信息截至 { $at }
sensors-merged = { $count } 个信号此前已触发
sensors-quiet = 没有需要报告的情况。
signal-threshold = 超过阈值
signal-cleared = 恢复正常
signal-no-data = 没有数据
signal-not-enough-history = 历史数据不足
signal-sensor-failed = 传感器故障

## 系统

settings-all-default = 所有设置都是默认值。
settings-name = 设置
settings-value = 值
settings-source = 来源
settings-default = 默认
settings-meaning = 含义

audit-clean = 账本与写入时一致：{ $events } 个事件。
audit-faults = { $count } 处与写入时不一致。
audit-ledger = 账本
audit-place = { $stream } 版本 { $version }

contracts-written = 已将 { $count } 个模式写入 { $folder }

db-current = 数据库结构与本程序一致。
db-not-current = 数据库结构与本程序不一致；运行 silicon db upgrade。
db-no-tables = 还没有表
db-address = 数据库
db-revision = 结构版本
db-newest = 程序版本

doctor-healthy = 没有发现损坏。
doctor-broken = { $count } 处损坏。

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

card-effect-question = { $employee } 将要使用 { $capability }，是否允许？
card-effect-impact = { $description } 任务内容：{ $objective } 参数：{ $arguments }
card-effect-do-title = 允许，按所示内容执行
card-effect-do-benefit = 工作继续：{ $objective }
card-effect-do-risk = { $effect ->
    [irreversible] 无法撤销。
   *[other] 会改变外部系统；要撤销需另下任务单。
}
card-effect-do-cost = { $capability } 按这些参数产生的费用。
card-effect-nothing-title = 不做
card-effect-nothing-benefit = 什么都不会改变。
card-effect-nothing-risk = 任务单不含这一步就结束。
card-effect-nothing-cost = 无。

## 结果不明的决策卡

card-doubt-question = { $capability } 是否已经执行？它已开始，但答复丢失。
card-doubt-impact = { $description } 由 { $employee } 开始，参数：{ $arguments }
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
