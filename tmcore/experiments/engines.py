"""Programs that other people wrote, to run exported files: DuckDB, PostgreSQL, Spark, and JPMML for PMML.

Each is used where it is installed. NaN is given to the databases as NaN, not as NULL.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tmcore.export.checks import Answer, Check, CheckError, Task
from tmcore.export.labels import plain_labels
from tmcore.export.sql_format import STANDARD, result_names

ROW = "row number"
POSTGRES = "TMCORE_POSTGRES"
"""The environment variable with a connection string of a PostgreSQL database that may be written to."""


def engines() -> Iterator[tuple[str, Check]]:
    """Return the formats and the checks that can be made here."""
    if find_spec("duckdb"):
        yield "sql", ("DuckDB ran the SQL", run_duckdb)
    if find_spec("psycopg") and POSTGRES in os.environ:
        yield "sql", ("PostgreSQL ran the SQL", run_postgres)
    if find_spec("pyspark"):
        yield "spark", ("Spark ran the SQL", run_spark)
    if find_spec("jpmml_evaluator"):
        yield "pmml", ("JPMML scored the PMML", run_jpmml)


def run_duckdb(task: Task) -> Answer:
    """Run the SELECT in DuckDB."""
    import duckdb

    with duckdb.connect() as database:
        database.register("given", _arrow(task))
        database.execute(f"CREATE TABLE {STANDARD.identifier(task.about.table)} AS SELECT * FROM given")
        try:
            result: Any = database.sql(task.data.decode())
            found = result.to_arrow_table().to_pydict()
        except duckdb.Error as error:
            raise CheckError(f"DuckDB stopped: {error}") from error
    return _answer(task, found)


def run_postgres(task: Task) -> Answer:
    """Run the SELECT in PostgreSQL, on a temporary table."""
    import psycopg

    columns = [ROW, *task.frame.columns]
    numeric = set(_numeric(task))
    types = ["INTEGER", *("DOUBLE PRECISION" if name in numeric else "TEXT" for name in task.frame.columns)]
    declared = ", ".join(
        f"{STANDARD.identifier(name)} {kind}" for name, kind in zip(columns, types, strict=True)
    )
    table = STANDARD.identifier(task.about.table)
    values = [task.frame[name].astype(object).tolist() for name in task.frame.columns]
    with psycopg.connect(os.environ[POSTGRES]) as database, database.cursor() as cursor:
        cursor.execute(f"CREATE TEMP TABLE {table} ({declared})".encode())
        with cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            for row in zip(range(len(task.frame)), *values, strict=True):
                copy.write_row(row)
        try:
            cursor.execute(task.data)
        except psycopg.Error as error:
            raise CheckError(f"PostgreSQL stopped: {error}") from error
        assert cursor.description is not None
        names = [column.name for column in cursor.description]
        found = dict(zip(names, zip(*cursor.fetchall(), strict=True), strict=True))
        database.rollback()
    return _answer(task, found)


@cache
def _spark() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()


def run_spark(task: Task) -> Answer:
    """Run the SELECT in Spark."""
    _spark().createDataFrame(_arrow(task)).createOrReplaceTempView(task.about.table)
    try:
        found = _spark().sql(task.data.decode()).toArrow().to_pydict()
    except Exception as error:  # Spark raises many kinds
        raise CheckError(f"Spark stopped: {error}") from error
    return _answer(task, found)


def run_jpmml(task: Task) -> Answer:
    """Score the PMML with JPMML, after validating it with the PMML 4.4 schema that comes with it."""
    from jpmml_evaluator import make_evaluator

    problem = schema_error(task.data)
    if problem:
        raise CheckError(f"The PMML does not follow its schema: {problem}")
    evaluator = make_evaluator(task.data)
    found = evaluator.evaluateAll(task.frame)
    votes_and_class = [field.getName() for field in evaluator.getOutputFields()]
    predicted, *votes = votes_and_class
    labels = plain_labels(task.rules)
    exact = {str(label): label for label in labels}
    return Answer(
        found[votes].to_numpy(dtype=np.float64), [exact[str(label)] for label in found[predicted].tolist()]
    )


@cache
def _schema() -> Any:
    from lxml import etree

    folder = files("jpmml_evaluator").joinpath("dependencies")
    jar = next(item for item in folder.iterdir() if item.name.startswith("pmml-model-1"))
    with zipfile.ZipFile(BytesIO(jar.read_bytes())) as archive:
        return etree.XMLSchema(etree.fromstring(archive.read("pmml.xsd")))


def schema_error(data: bytes) -> str:
    """Return where a file breaks the PMML 4.4 schema, empty if it does not."""
    from lxml import etree

    schema = _schema()
    return "" if schema.validate(etree.fromstring(data)) else str(schema.error_log.last_error)


def _arrow(task: Task) -> pa.Table:
    """Return the rows with their numbers, missing numbers as NaN."""
    columns = {ROW: pa.array(range(len(task.frame)), pa.int64())}
    numeric = set(_numeric(task))
    for name in task.frame.columns:
        kind = pa.float64() if name in numeric else pa.string()
        columns[name] = pa.array(task.frame[name].tolist(), kind, from_pandas=False)
    return pa.table(columns)


def _numeric(task: Task) -> list[str]:
    return [name for name in task.frame.columns if pd.api.types.is_numeric_dtype(task.frame[name].dtype)]


def _answer(task: Task, found: dict[str, Any]) -> Answer:
    votes, label = result_names(task.rules)
    order = np.argsort(np.array(found[ROW], dtype=np.int64))
    sums = np.column_stack([np.array(found[name], dtype=np.float64) for name in votes])
    return Answer(sums[order], [found[label][k] for k in order])
