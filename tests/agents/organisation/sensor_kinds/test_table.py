"""A sensor file says of which kind it is."""

from agents.cognition.sense import SensorDefinition
from agents.organisation.sensor_kinds import read_sensor
from agents.organisation.yaml_source import YamlSource, read_yaml
from contracts import Grain

THRESHOLD = "metric: cancel-rate\ngrain: day\nwhen: value > 0.1\n"


def read(text: str) -> tuple[object, YamlSource]:
    source = read_yaml("sensors/one.yaml", text)
    return read_sensor("one", source), source


def test_a_file_that_names_a_metric_is_a_threshold_sensor() -> None:
    sensor, source = read(THRESHOLD)
    assert isinstance(sensor, SensorDefinition)
    assert (sensor.name, sensor.grain, source.faults) == ("one", Grain.DAY, [])


def test_a_key_that_is_nearly_one_of_a_kind_is_told_at_its_line() -> None:
    sensor, source = read("grain: day\nmetrc: cancel-rate\nwhen: value > 0.1\n")
    assert sensor is None
    [fault] = source.faults
    assert (fault.line, fault.hint) == (2, "Did you mean `metric`?")


def test_a_file_that_says_nothing_of_its_kind_hears_which_there_are() -> None:
    sensor, source = read("title: A sensor\nseverity: low\n")
    [fault] = source.faults
    assert sensor is None
    assert "`metric:` watches a number" in fault.hint


def test_an_empty_file_is_told_as_empty() -> None:
    sensor, source = read("")
    assert sensor is None
    assert [fault.what for fault in source.faults] == ["The file is empty."]
