from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from agents.organisation import FileRefused, Organisation, bundle, check, load, load_bundle, read_told
from agents.skills import Reach, ShowRule
from contracts import Effect, StepMode, Tier, Workspace
from governance.channels import Mailbox
from runtime.capabilities.port import CapabilitySpec
from runtime.errors import NotFound, OrganisationFaulty

Specs = Mapping[str, CapabilitySpec]


@pytest.fixture
def loaded(organisation: Path, builtin: Specs) -> Organisation:
    return load(organisation, builtin=builtin, environ={})


def test_the_good_organisation_has_no_faults(organisation: Path, builtin: Specs) -> None:
    report = check(organisation, builtin=builtin, environ={})

    assert report.ok
    assert report.text() == "No faults."


def test_the_organisation_holds_what_stands_in_the_folder(loaded: Organisation) -> None:
    assert list(loaded.employees) == ["head", "desk", "analyst", "notifier"]
    assert loaded.stands_at == datetime(2013, 2, 8, 22, tzinfo=UTC)
    assert loaded.budget.seconds == 900
    assert loaded.budget.money is not None
    assert loaded.budget.money.amount == Decimal(5)
    assert loaded.approvals["money"].within_s == 7_200
    assert [loaded.approvals[name].may_loosen for name in ("default", "money")] == [True, False]
    assert loaded.approvals["money"].escalate_to == ("director",)
    assert loaded.approvals["default"].who == ("duty",)
    assert [person.id for person in loaded.people.members("duty")] == ["manager"]
    assert loaded.sensors["cancellations"].merge_gap_s == 43_200
    assert loaded.metrics["cancel-rate"].name == "cancel-rate"
    assert set(loaded.specs) >= {"flights.query", "desk.waive", "python", "advise"}
    assert loaded.models == {}


def test_a_skill_holds_its_plan_with_the_contents_of_its_files(loaded: Organisation) -> None:
    skill = loaded.skills["explain-cancellations"]

    assert skill.tier is Tier.COGNITIVE
    assert skill.words == ("cancelled flights", "cancellation", "storm", "取消")
    assert skill.body == "Measure first, then look for a cause."
    measure, *_, act = skill.plan.steps
    assert measure.arguments["sql"] == {"file": "rate.sql", "text": "SELECT 1\n"}
    assert measure.timeout_s == 30
    assert act.mode is StepMode.EMPLOYEE
    assert skill.options is not None
    assert [option.id for option in skill.options.options] == ["waive", "tell", "nothing"]


def test_who_is_below_whom_is_known(loaded: Organisation) -> None:
    assert loaded.is_below("notifier", "head")
    assert not loaded.is_below("head", "notifier")
    assert not loaded.is_below("desk", "desk")
    assert [owner.id for owner in loaded.owners("explain-cancellations")] == ["desk"]


def test_variables_are_filled_from_the_environment(organisation: Path, builtin: Specs) -> None:
    assert load(organisation, builtin=builtin, environ={"SILICON_MODEL": "m-1"}).models == {"reason": "m-1"}


def test_a_faulty_organisation_is_not_loaded_and_tells_all_faults(organisation: Path, builtin: Specs) -> None:
    (organisation / "metrics" / "cancel-rate.yaml").write_text("title: x\n")

    with pytest.raises(OrganisationFaulty) as caught:
        load(organisation, builtin=builtin, environ={})

    faults = caught.value.facts["faults"]
    assert isinstance(faults, list)
    assert len(faults) == 7
    assert "two_desks/metrics/cancel-rate.yaml:1  `source` is missing." in caught.value.message
    assert caught.value.message.endswith("7 faults. Nothing was run.")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, builtin: Specs) -> None:
    with pytest.raises(NotFound, match="no organisation folder"):
        check(tmp_path / "nowhere", builtin=builtin)


def test_the_same_folder_gives_the_same_bundle(organisation: Path) -> None:
    first = bundle(organisation)
    (organisation / "org.yaml").touch()
    (organisation / ".silicon").mkdir()
    (organisation / ".silicon" / "silicon.db").write_bytes(b"state")
    (organisation / "desk" / "__pycache__").mkdir()
    (organisation / "desk" / "__pycache__" / "service.pyc").write_bytes(b"code")
    (organisation / "data" / "more.csv").write_text("1")

    assert bundle(organisation) == first


def test_a_changed_file_gives_another_bundle(organisation: Path) -> None:
    first = bundle(organisation)
    (organisation / "skills" / "explain-cancellations" / "rate.sql").write_text("SELECT 2\n")

    assert bundle(organisation) != first


def test_a_bundle_is_the_organisation_as_it_stood(organisation: Path, builtin: Specs, loaded: Organisation) -> None:
    kept = bundle(organisation)
    (organisation / "skills" / "explain-cancellations" / "rate.sql").write_text("SELECT 2\n")
    (organisation / "org.yaml").write_text("broken")

    again = load_bundle(kept, organisation, builtin=builtin, environ={})

    assert again.skills == loaded.skills
    assert again.head == loaded.head
    assert again.folder == organisation


def test_a_link_out_of_the_folder_is_refused(organisation: Path, builtin: Specs, tmp_path: Path) -> None:
    outside = tmp_path / "secret.sql"
    outside.write_text("SELECT 'secret'")
    file = organisation / "skills" / "explain-cancellations" / "rate.sql"
    file.unlink()
    file.symlink_to(outside)

    (fault,) = check(organisation, builtin=builtin, environ={}).faults

    assert fault.what.endswith("rate.sql leads out of the organisation's folder.")
    assert fault.file == "skills/explain-cancellations/rate.sql"


def test_a_file_above_the_limit_is_refused(organisation: Path, builtin: Specs) -> None:
    (organisation / "rules" / "money.yaml").write_text("#" * (1024 * 1024 + 1))

    (fault,) = check(organisation, builtin=builtin, environ={}).faults

    assert fault.what == "rules/money.yaml is larger than 1 MiB; data belongs behind a connection."


def test_a_link_that_leads_to_itself_is_refused(organisation: Path, builtin: Specs) -> None:
    (organisation / "knowledge").mkdir()
    (organisation / "knowledge" / "loop.md").symlink_to("loop.md")

    (fault,) = check(organisation, builtin=builtin, environ={}).faults

    assert fault.file == "knowledge/loop.md"


def test_what_could_not_be_pinned_is_a_fault_before_anything_runs(organisation: Path, builtin: Specs) -> None:
    (organisation / "knowledge").mkdir()
    (organisation / "knowledge" / "book.pdf").write_bytes(b"0" * (1024 * 1024 + 1))

    (fault,) = check(organisation, builtin=builtin, environ={}).faults

    assert fault.what.startswith("knowledge/book.pdf is larger than 1 MiB")
    with pytest.raises(FileRefused):
        bundle(organisation)


def test_five_thousand_employees_are_checked(organisation: Path, builtin: Specs) -> None:
    file = organisation / "org.yaml"
    org = yaml.safe_load(file.read_text())
    org["head"]["manages"] += [
        {"id": f"desk-{desk}", "manages": [{"id": f"w-{desk}-{number}", "can": ["python"]} for number in range(100)]}
        for desk in range(50)
    ]
    file.write_text(yaml.safe_dump(org, sort_keys=False))

    report = check(organisation, builtin=builtin, environ={})

    assert report.ok


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", Workspace()),
        ("false", None),
        ("{files: 20, mib: 5}", Workspace(files=20, total_bytes=5 * 1_024 * 1_024)),
    ],
)
def test_an_employee_owns_the_workspace_that_is_written_down(
    organisation: Path, builtin: Specs, written: str, meant: Workspace | None
) -> None:
    file, right = organisation / "org.yaml", "can: [flights.query, python]"
    file.write_text(file.read_text().replace(right, f"{right}\n          workspace: {written}"))

    loaded = load(organisation, builtin=builtin, environ={})

    assert loaded.employees["analyst"].workspace == meant


def test_a_built_in_effect_needs_a_rule_of_approval_only_where_somebody_may_use_it(
    organisation: Path, builtin: Mapping[str, CapabilitySpec]
) -> None:
    online = replace(builtin["python"], name="python.online", effect=Effect.IRREVERSIBLE, policy="network")
    org = organisation / "org.yaml"

    assert check(organisation, builtin={**builtin, online.name: online}, environ={}).ok

    org.write_text(org.read_text().replace("can: [", "can: [python.online, ", 1))
    (fault,) = check(organisation, builtin={**builtin, online.name: online}, environ={}).faults
    assert "`python.online` is irreversible and org.yaml has no approval rule `network`" in fault.what


def test_more_core_skills_than_a_prompt_should_hold_are_told(organisation: Path, builtin: Specs) -> None:
    names = [f"core-{number}" for number in range(11)]
    for name in names:
        folder = organisation / "skills" / name
        folder.mkdir()
        (folder / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Asks.\nmetadata: {{reach: core}}\n---\n", encoding="utf-8"
        )
        (folder / "plan.yaml").write_text("steps:\n  - {id: ask, ask: Well?}\n", encoding="utf-8")
    org, skills = organisation / "org.yaml", ", ".join([*names, "explain-cancellations"])
    org.write_text(org.read_text().replace("skills: explain-cancellations", f"skills: [{skills}]"))

    [fault] = check(organisation, builtin=builtin, environ={}).faults

    assert "has 11 core skills" in fault.what
    assert "10 are the limit" in fault.what


def test_rules_of_the_organisation_make_skills_of_the_long_tail(organisation: Path, builtin: Specs) -> None:
    org, when = organisation / "org.yaml", "goal.contains('how many')"
    show = f'show:\n  - {{skills: count-flights, when: "{when}", long_tail: true}}\nhead:\n'
    org.write_text(org.read_text().replace("head:\n", show, 1))

    found = load(organisation, builtin=builtin, environ={})

    assert found.show == (ShowRule(("count-flights",), when),)
    assert found.skills["count-flights"].reach is Reach.LONG_TAIL
    assert found.skills["explain-cancellations"].reach is Reach.EXTENDED


def test_a_rule_of_the_organisation_is_enough_for_a_skill_that_nothing_else_shows(
    organisation: Path, builtin: Specs
) -> None:
    skill, org = organisation / "skills" / "explain-cancellations" / "SKILL.md", organisation / "org.yaml"
    skill.write_text(
        skill.read_text().replace("  words: cancelled flights, cancellation, storm, 取消", "  reach: long-tail")
    )
    assert not check(organisation, builtin=builtin, environ={}).ok

    show = "show:\n  - {skills: explain-cancellations, when: \"employee == 'desk'\"}\nhead:\n"
    org.write_text(org.read_text().replace("head:\n", show, 1))
    assert check(organisation, builtin=builtin, environ={}).text() == "No faults."


def test_people_are_told_by_channels_from_a_severity_on_and_left_alone_at_night(organisation: Path) -> None:
    org = organisation / "org.yaml"
    told = "name: Morgan, email: m@example.org, notify: [hook, {by: mail, from: high}], quiet: {from: 22:00, to: 07:00}"
    channels = (
        "channels:\n  hook: {kind: webhook, url: https://hooks.example.org/x, secret: HOOK}\n"
        "  mail: {kind: email, host: mail.example.org, from: silicon@example.org, security: tls}\napprovals:\n"
    )
    org.write_text(org.read_text().replace("name: Morgan", told).replace("approvals:\n", channels))

    read = read_told(organisation, environ={})

    morgan = read.people.get("manager")
    assert morgan is not None
    assert [(each.by, each.least.value) for each in morgan.notify] == [("hook", "low"), ("mail", "high")]
    assert morgan.quiet is not None
    assert (morgan.quiet.begins, morgan.quiet.ends) == (time(22), time(7))
    mail = read.channels["mail"]
    assert isinstance(mail, Mailbox)
    assert mail.port == 465
