"""Fast prediction: clauses are compiled once, then evaluated for 512 rows at a time.

Compiling drops clauses that are empty, can never hold or have no weight, merges equal ones, and moves those that
always hold into the intercept. What is left is a list of distinct tests "base <= rank < base + span" and, for every
clause, which of them it asks.

A block of 512 rows is then evaluated in four steps, each on wide words (`words`): one bit per row for every distinct
test; their AND for every clause; the sums of weights by binary counters that add bit by bit for all rows at once
(`add_up`); and a transposition of the counters' bits into numbers. Nothing is rounded: the sums equal the machine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tmcore.machine.inference_kernels import SLOT, all_packed, all_sums, pack_ranks
from tmcore.machine.state import ClauseBank
from tmcore.machine.words import ROWS, WORD, new_words

NEVER, ALWAYS, FIRST = 0, 1, 2
"""Rows of the table of tests: no row passes, every row passes, and where the real tests start."""

FEW = 4
"""From this many tests with the same base and span in 64 neighbouring features on, they are made together."""


@dataclass(frozen=True)
class Tests:
    """Distinct tests of one feature each: base <= rank < base + span, so a missing value fails."""

    features: np.ndarray
    bases: np.ndarray
    spans: np.ndarray


@dataclass(frozen=True)
class Layout:
    """How the tests of a block are made from the rows, and where each lands in the table of wide words.

    Attributes
    ----------
    members : ndarray of int32
        Row of the table of every test of every clause.
    chunks : ndarray of int64, shape (n, 4)
        From ranks: first of 64 neighbouring features, base, span, row. From literals: word, 0, 0, row.
    features : ndarray of int64
        Features whose ranks are laid out 512 rows side by side.
    singles : ndarray of int64, shape (n, 4)
        Index into `features`, base, span, row.
    size : int
        Rows of the table.
    """

    members: np.ndarray
    chunks: np.ndarray
    features: np.ndarray
    singles: np.ndarray
    size: int


@dataclass(frozen=True)
class CompiledClauses:
    """Clauses as lists of tests, in the order in which they were given.

    Attributes
    ----------
    n_features : int
    dtype : numpy dtype
        Of the ranks: uint8 or uint16.
    starts : ndarray of int32, shape (n_clauses + 1,)
        Clause c asks the tests starts[c]..starts[c + 1] - 1 of a layout's `members`.
    by_rank : Layout
    by_literal : Layout or None
        None where a test is no threshold literal ("is known").
    """

    n_features: int
    n_words: int
    dtype: Any
    starts: np.ndarray
    by_rank: Layout
    by_literal: Layout | None

    @property
    def n_clauses(self) -> int:
        """Clauses that are evaluated."""
        return len(self.starts) - 1

    def outputs(self, data: np.ndarray) -> np.ndarray:
        """Outputs of every clause when predicting, bool of shape (n_rows, n_clauses).

        Parameters
        ----------
        data : ndarray
            Ranks, uint8 or uint16 (n_rows, features), or literal words, uint64 (n_rows, words).
        """
        packed = np.zeros((len(data), -(-self.n_clauses // WORD)), np.uint64)
        if packed.size:
            all_packed(*self._arguments(data), packed)
        bits = np.unpackbits(packed.view(np.uint8), axis=1, count=self.n_clauses, bitorder="little")
        return bits.view(bool)

    def _arguments(self, data: np.ndarray) -> tuple[Any, ...]:
        """What every kernel takes: the flat rows, how to read them, the clauses, and working memory."""
        literal = data.dtype == np.uint64
        layout = self.by_literal if literal else self.by_rank
        width = self.n_words if literal else self.n_features
        if layout is None:
            raise ValueError("A clause asks whether a value is known, which literals do not say; pass ranks.")
        if data.ndim != 2 or data.shape[1] != width:
            raise ValueError(f"The rows have shape {data.shape}; give {width} columns for every row.")
        if not literal and data.dtype != self.dtype:
            raise ValueError(f"The ranks are {data.dtype}; give {np.dtype(self.dtype)}.")
        flat = np.ascontiguousarray(data).reshape(-1)
        scratch = (
            np.zeros(len(layout.features) * ROWS, flat.dtype),
            _table(layout.size),
            new_words(-(-self.n_clauses // WORD) * WORD),
        )
        plan = (layout.chunks, layout.features, layout.singles)
        return flat, data.shape, plan, (self.starts, layout.members), scratch


def _table(size: int) -> np.ndarray:
    table = new_words(size)
    table[ALWAYS] = ~np.uint64(0)
    return table


@dataclass(frozen=True)
class CompiledVotes:
    """Distinct clauses with their weights.

    Attributes
    ----------
    clauses : CompiledClauses
    fields : ndarray of int64, shape (n_fields, 6)
        Counters, one for each output and sign: output, sign, shift (the count is of 2**shift), first counter bit,
        bits, and the row of `lists` of its lowest bit.
    lists : ndarray of int32
        Where the clauses of every counter bit start in `adders`.
    adders : ndarray of int32
        Clauses whose weight has that bit.
    intercept : ndarray of int64, shape (n_outputs,)
    """

    clauses: CompiledClauses
    fields: np.ndarray
    lists: np.ndarray
    adders: np.ndarray
    intercept: np.ndarray

    def votes(self, data: np.ndarray) -> np.ndarray:
        """Vote sums in units of 2**-16, int64 of shape (n_rows, n_outputs); `data` as in `CompiledClauses.outputs`."""
        sums = np.empty((len(data), len(self.intercept)), np.int64)
        sums[:] = self.intercept
        arguments = self.clauses._arguments(data)
        if len(self.fields) and len(data):
            last = self.fields[-1]
            n_bits = int(-(-(last[3] + last[4]) // WORD) * WORD)
            counters = new_words(n_bits), new_words(2 * (self.clauses.n_clauses + 2 * WORD))
            all_sums(*arguments, (self.fields, self.lists, self.adders), counters, sums)
        return sums


def compile_votes(
    bank: ClauseBank,
    n_ranks: np.ndarray,
    has_gaps: np.ndarray,
    machines: np.ndarray | None = None,
    clauses: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    intercept: np.ndarray | None = None,
) -> CompiledVotes:
    """Compile vote sums: those of a trained machine, or those of the clauses kept with weights of their own.

    Parameters
    ----------
    bank : ClauseBank
    n_ranks : ndarray of int, shape (features,)
    has_gaps : ndarray of bool, shape (features,)
    machines, clauses : ndarray of int, shape (n_kept,), optional
        Clauses kept; without them all, each with its own weight in its machine's column.
    weights : ndarray of int64, shape (n_kept, n_outputs), optional
    intercept : ndarray of int64, shape (n_outputs,), optional
    """
    if machines is None or clauses is None or weights is None:
        machines, clauses = np.nonzero(bank.literals)
        weights = np.zeros((len(machines), len(bank.weights)), np.int64)
        weights[np.arange(len(machines)), machines] = bank.weights[machines, clauses] * bank.polarity[clauses]
    voting = weights.any(1) & (bank.literals[machines, clauses] > 0)
    machines, clauses, weights = machines[voting], clauses[voting], weights[voting]
    start = np.zeros(weights.shape[1], np.int64) if intercept is None else np.array(intercept, np.int64)
    tests, possible = _tests_of(bank, n_ranks, has_gaps, machines, clauses)
    distinct: dict[bytes, int] = {}
    places = np.array([distinct.setdefault(asked, len(distinct)) for asked in tests], np.int64)
    merged = np.zeros((len(distinct), len(start)), np.int64)
    np.add.at(merged, places[possible], weights[possible])
    if b"" in distinct:
        always = distinct[b""]
        start += merged[always]
        merged[always] = 0
    kept, texts = np.flatnonzero(merged.any(1)), list(distinct)
    lists = [texts[at] for at in kept.tolist()]
    return CompiledVotes(_compile(bank, n_ranks, lists), *_counters(merged[kept]), _frozen(start, np.int64))


def compile_outputs(bank: ClauseBank, n_ranks: np.ndarray, has_gaps: np.ndarray) -> CompiledClauses:
    """Compile the outputs of all clauses, machine after machine; arguments as in `compile_votes`."""
    machines, clauses = np.indices(bank.weights.shape).reshape(2, -1)
    tests, possible = _tests_of(bank, n_ranks, has_gaps, machines, clauses)
    possible &= bank.literals.ravel() > 0
    never, always = (np.array([row - FIRST], np.int64).tobytes() for row in (NEVER, ALWAYS))
    lists = [asked or always if holds else never for asked, holds in zip(tests, possible, strict=True)]
    return _compile(bank, n_ranks, lists)


def _tests_of(
    bank: ClauseBank, n_ranks: np.ndarray, has_gaps: np.ndarray, machines: np.ndarray, clauses: np.ndarray
) -> tuple[list[bytes], np.ndarray]:
    """Tests of the chosen clauses that exclude something.

    Returns
    -------
    tests : list of bytes
        Of each chosen clause: int64 numbers feature * 2**32 + base * 2**16 + span, ascending.
    possible : ndarray of bool, shape (chosen,)
        False where a clause's bounds exclude each other.
    """
    missing = int(np.iinfo(bank.lower.dtype).max)
    above, below = (np.flatnonzero(included) for included in (bank.lower_included, bank.upper_included))
    lower, upper = bank.lower.reshape(-1)[above], bank.upper.reshape(-1)[below]
    n_features = len(n_ranks)
    closed_below, closed_above = lower > 0, upper < np.asarray(n_ranks)[below % n_features] - 1
    included = np.union1d(above, below)
    above, lower = above[closed_below], lower[closed_below].astype(np.int64)
    below, upper = below[closed_above], upper[closed_above].astype(np.int64)
    known = included[np.asarray(has_gaps, bool)[included % n_features]]
    known = np.setdiff1d(known, np.union1d(above, below))
    _, in_above, in_below = np.intersect1d(above, below, assume_unique=True, return_indices=True)
    crossed = above[in_above[lower[in_above] > upper[in_below]]] // n_features

    places = np.full(bank.weights.size, -1, np.int64)
    chosen = machines * bank.weights.shape[1] + clauses
    places[chosen] = np.arange(len(machines))
    possible = np.ones(bank.weights.size, bool)
    possible[crossed] = False
    at = np.concatenate([above, below, known])
    bounds = [(lower << 16) + missing - lower, upper + 1, np.full(len(known), missing)]
    keys = (at % n_features << 32) + np.concatenate(bounds)
    owners = places[at // n_features]
    order = np.lexsort((keys, owners))
    texts = keys[order].tobytes()
    ends = 8 * np.searchsorted(owners[order], np.arange(len(machines) + 1))
    return [texts[a:b] for a, b in pairwise(ends.tolist())], possible[chosen]


def _compile(bank: ClauseBank, n_ranks: np.ndarray, lists: Sequence[bytes]) -> CompiledClauses:
    """Number the tests that occur and lay them out; `lists` holds the keys of every clause as bytes."""
    lengths = np.array([len(asked) // 8 for asked in lists], np.int64)
    keys = np.frombuffer(b"".join(lists), np.int64)
    real = keys >= 0
    distinct, numbers = np.unique(keys[real], return_inverse=True)
    members = keys + FIRST
    members[real] = numbers + FIRST
    tests = Tests(distinct >> 32, (distinct >> 16) & 0xFFFF, distinct & 0xFFFF)
    n_bits = int(np.sum(n_ranks)) - len(n_ranks)
    return CompiledClauses(
        n_features=len(n_ranks),
        n_words=max(1, -(-2 * n_bits // WORD)),
        dtype=bank.lower.dtype,
        starts=_frozen(np.concatenate([[0], np.cumsum(lengths)]), np.int32),
        by_rank=_rank_layout(tests, members, len(n_ranks)),
        by_literal=_literal_layout(tests, members, np.asarray(n_ranks), int(np.iinfo(bank.lower.dtype).max)),
    )


def _rank_layout(tests: Tests, members: np.ndarray, n_features: int) -> Layout:
    """Equal tests of 64 neighbouring features are made row by row; the others feature by feature."""
    starts = np.minimum(tests.features // WORD * WORD, max(n_features - WORD, 0))
    groups = np.stack([starts, tests.bases, tests.spans], 1)
    found, group, counts = np.unique(groups, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    shared = (counts >= FEW) & (n_features >= WORD)
    slots = FIRST + (np.cumsum(shared) - 1) * SLOT
    chunks = np.concatenate([found, slots[:, None]], 1)[shared]
    alone = ~shared[group]
    first_single = FIRST + len(chunks) * SLOT
    rows = np.where(alone, first_single + np.cumsum(alone) - 1, slots[group] + tests.features - starts)
    features, index = np.unique(tests.features[alone], return_inverse=True)
    singles = np.stack([index.reshape(-1), tests.bases[alone], tests.spans[alone], rows[alone]], 1)
    return _layout(rows, members, chunks, features, singles, first_single + len(singles))


def _literal_layout(tests: Tests, members: np.ndarray, n_ranks: np.ndarray, missing: int) -> Layout | None:
    """The literal "rank <= t" is bit t of its feature, its negation stands behind all of them."""
    above = tests.bases > 0
    if (~above & (tests.spans == missing)).any():
        return None
    first = np.cumsum(n_ranks - 1) - (n_ranks - 1)
    n_bits = int(np.sum(n_ranks - 1))
    literals = first[tests.features] + np.where(above, n_bits + tests.bases, tests.spans) - 1
    used, slot = np.unique(literals // WORD, return_inverse=True)
    rows = FIRST + slot.reshape(-1) * SLOT + literals % WORD
    chunks = np.zeros((len(used), 4), np.int64)
    chunks[:, 0], chunks[:, 3] = used, FIRST + np.arange(len(used)) * SLOT
    empty = np.zeros((0, 4), np.int64)
    return _layout(rows, members, chunks, np.zeros(0, np.int64), empty, FIRST + len(used) * SLOT)


def _layout(
    rows: np.ndarray,
    members: np.ndarray,
    chunks: np.ndarray,
    features: np.ndarray,
    singles: np.ndarray,
    size: int,
) -> Layout:
    """`rows` are the table rows of the tests; `members` number the tests from FIRST on."""
    numbered = np.concatenate([[NEVER, ALWAYS], rows])[members]
    return Layout(
        members=_frozen(numbered, np.int32),
        chunks=_frozen(chunks, np.int64),
        features=_frozen(features, np.int64),
        singles=_frozen(singles, np.int64),
        size=size,
    )


def _frozen(array: Any, dtype: Any) -> np.ndarray:
    """A contiguous copy that cannot be changed."""
    copy = np.array(array, dtype, order="C")
    copy.setflags(write=False)
    return copy


def _counters(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`fields`, `lists` and `adders` of `CompiledVotes` for weights of shape (clauses, outputs)."""
    fields: list[tuple[int, ...]] = []
    adders: list[np.ndarray] = []
    end = 0
    for sign in (1, -1):
        for output in range(
            weights.shape[1]
        ):  # outputs in turn: no sum waits for the one written just before
            voting = np.flatnonzero(np.sign(weights[:, output]) == sign)
            if len(voting) == 0:
                continue
            sizes = (sign * weights[voting, output]).astype(np.uint64)  # also right for -2**63
            together = int(np.bitwise_or.reduce(sizes))
            shift = (together & -together).bit_length() - 1
            n_bits = min((sum(sizes.tolist()) >> shift).bit_length(), WORD)
            if end % WORD + n_bits > WORD:
                end = -(-end // WORD) * WORD
            fields.append((output, sign, shift, end, n_bits, len(adders)))
            places = np.arange(shift, shift + n_bits, dtype=np.uint64)
            adders += [voting[sizes >> place & np.uint64(1) == 1] for place in places]
            end += n_bits
    return (
        _frozen(np.reshape(fields, (-1, 6)), np.int64),
        _frozen(np.cumsum([0, *(len(part) for part in adders)]), np.int32),
        _frozen(np.concatenate([*adders, np.zeros(0)]), np.int32),
    )


__all__ = ["CompiledClauses", "CompiledVotes", "compile_outputs", "compile_votes", "pack_ranks"]
