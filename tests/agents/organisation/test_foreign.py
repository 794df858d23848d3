"""Skills in the open format as other agents have them; nothing of a folder is changed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from agents.organisation import Organisation, Skill, bundle, check, load, load_bundle
from contracts import StepMode, Tier
from runtime.capabilities.port import CapabilitySpec

Specs = Mapping[str, CapabilitySpec]
FOREIGN = Path(__file__).parent / "foreign"
NAMES = sorted(folder.name for folder in FOREIGN.iterdir())


def with_skills(organisation: Path, *names: str, can: str = "flights.query, python") -> Path:
    """Return the organisation with these foreign folders, given to its analyst."""
    for name in names:
        shutil.copytree(FOREIGN / name, organisation / "skills" / name)
    org = organisation / "org.yaml"
    text = org.read_text().replace("skills: [count-flights]", f"skills: [count-flights, {', '.join(names)}]")
    org.write_text(text.replace("can: [flights.query, python]", f"can: [{can}]"))
    return organisation


def loaded(organisation: Path, builtin: Specs, name: str) -> Skill:
    return load(with_skills(organisation, name), builtin=builtin, environ={}).skills[name]


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_as_it_is(name: str, organisation: Path, builtin: Specs) -> None:
    report = check(with_skills(organisation, name), builtin=builtin, environ={})

    assert report.ok, report.text()


@pytest.mark.parametrize("name", NAMES)
def test_a_model_follows_it_and_reads_its_instructions_first(name: str, organisation: Path, builtin: Specs) -> None:
    skill = loaded(organisation, builtin, name)
    [step] = skill.plan.steps

    assert (step.mode, step.must_call) == (StepMode.REACT, ("skills.read",))
    assert step.arguments["skill"] == name
    assert skill.description.split("{")[0] in str(step.react)
    assert skill.body not in str(step.react)
    assert skill.files["SKILL.md"] == skill.body


def test_it_has_the_tools_that_everybody_with_the_skill_can_use(organisation: Path, builtin: Specs) -> None:
    with_skills(organisation, "pdf-forms", can="flights.query, python")
    org = organisation / "org.yaml"
    org.write_text(
        org.read_text().replace("{id: notifier, can: [", "{id: notifier, skills: [pdf-forms], can: [python, ")
    )

    skill = load(organisation, builtin=builtin, environ={}).skills["pdf-forms"]

    assert (skill.plan.steps[0].tools, skill.tier) == (("python",), Tier.EXECUTION)


def test_without_tools_it_needs_no_slot(organisation: Path, builtin: Specs) -> None:
    shutil.copytree(FOREIGN / "brand-voice", organisation / "skills" / "brand-voice")
    org = organisation / "org.yaml"
    org.write_text(
        org.read_text().replace("skills: explain-cancellations", "skills: [explain-cancellations, brand-voice]")
    )

    skill = load(organisation, builtin=builtin, environ={}).skills["brand-voice"]

    assert (skill.plan.steps[0].tools, skill.tier) == ((), Tier.COGNITIVE)


def test_a_description_with_a_colon_and_no_quotes_is_read_as_it_was_meant(organisation: Path, builtin: Specs) -> None:
    assert loaded(organisation, builtin, "changelog-writer").description.startswith("Writes changelogs. Use when:")


def test_a_description_that_speaks_of_templates_binds_nothing(organisation: Path, builtin: Specs) -> None:
    file = with_skills(organisation, "brand-voice") / "skills" / "brand-voice" / "SKILL.md"
    file.write_text(file.read_text().replace("Use when", "Fills {{{name}}} and {{ 1 }}. Use when", 1))

    report = check(organisation, builtin=builtin, environ={})

    assert report.ok, report.text()


def test_what_other_programs_added_means_nothing_here(organisation: Path, builtin: Specs) -> None:
    skill = loaded(organisation, builtin, "pdf-forms")

    assert (skill.when_to_use, skill.words) == ("", ())


def test_our_words_in_metadata_count_where_they_fit(organisation: Path, builtin: Specs) -> None:
    skill = loaded(organisation, builtin, "kehu-baifang")

    assert (skill.when_to_use, skill.words) == ("拜访客户之后", ("拜访", "纪要"))


def test_pictures_and_hidden_files_are_not_read(organisation: Path, builtin: Specs) -> None:
    with_skills(organisation, "pdf-forms")
    hidden = organisation / "skills" / "pdf-forms" / ".cache"
    hidden.mkdir()
    (hidden / "notes.md").write_text("nothing to see")

    files = load(organisation, builtin=builtin, environ={}).skills["pdf-forms"].files

    assert sorted(files) == ["LICENSE.txt", "SKILL.md", "references/fields.md", "scripts/fill.py"]


def test_it_is_pinned_with_the_organisation(organisation: Path, builtin: Specs) -> None:
    data = bundle(with_skills(organisation, "pdf-forms"))
    shutil.rmtree(organisation / "skills")

    again: Organisation = load_bundle(data, organisation, builtin=builtin, environ={})

    assert "fill.py" in again.skills["pdf-forms"].files["SKILL.md"]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("name: brand-voice", "name: Brand Voice", "is not written as it must be"),
        ("name: brand-voice", "name: other", "must have that name"),
        ("name: brand-voice\n", "", "`name` is missing"),
        ("description: ", "description: " + "long " * 250, "1,024 letters"),
        ("description: Rewrites", "about: Rewrites", "`description` is missing"),
    ],
)
def test_what_the_open_format_itself_forbids_is_told(
    old: str, new: str, fault: str, organisation: Path, builtin: Specs
) -> None:
    file = with_skills(organisation, "brand-voice") / "skills" / "brand-voice" / "SKILL.md"
    file.write_text(file.read_text().replace(old, new, 1))

    report = check(organisation, builtin=builtin, environ={})

    assert any(fault in each.what + each.hint for each in report.faults), report.text()
    assert {each.file for each in report.faults} == {"skills/brand-voice/SKILL.md"}
