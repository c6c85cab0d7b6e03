"""``report.parquet``: the same table as the CSV's, with types, for data frames."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq

from kernelarena.report import table
from kernelarena.report.view import View

_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}


def render(view: View) -> bytes:
    """Return the cells as a Parquet file; what is unknown is null. The run's id is in the file's metadata."""
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in table.COLUMNS.items()])
    schema = schema.with_metadata({"kernelarena.run": view.data.manifest.id})
    rows = [table.row(verdict) for verdict in view.data.verdicts]
    columns = [pa.array([row[name] for row in rows], type=schema.field(name).type) for name in table.COLUMNS]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), stream, compression="zstd")
    return stream.getvalue()
