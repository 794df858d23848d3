"""`sensors/NAME.yaml`: one reader and one check for each kind of sensor.

The key that a kind cannot do without tells which it is: `metric:` a threshold sensor. A kind is added so:

1. its definition, a frozen dataclass with `name`, `title`, `severity` and `raises`, in `agents/cognition/sense`, joined
   to the union `AnySensor` there (`kinds.py`);
2. what its file may say, `class …File(SensorFile)` with `definition(name)`, and its check over the whole folder, in a
   module of its own here (`cron.py`, `event.py`), as `threshold.py` and `check_threshold.py` do;
3. one row in `KINDS` (`table.py`): the key, what the kind does in a few words, its file, its check.

Whatever runs sensors of one kind asks `Organisation.thresholds` (and the like), never `Organisation.sensors`.
"""

from agents.organisation.sensor_kinds.table import read_sensor, sensor_faults

__all__ = ["read_sensor", "sensor_faults"]
