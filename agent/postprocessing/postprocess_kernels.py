# mypy: allow-untyped-defs, allow-untyped-calls
"""Post-processing of one row in compiled walks: runs a `postprocess.pipeline.Program`.

The same arithmetic as `postprocess/transforms.py`, which works on whole tables. A: actions of one row. Arrays belong to
the caller; nothing is allocated.
"""

from foldwise.game.compiled import kernel
from foldwise.postprocess.transforms import (
    ALL_IN,
    BET,
    CLASS_FOLD,
    CLASS_LARGE,
    CLASS_SMALL,
    KEEP_ALL,
    NUM_CLASSES,
    ONE_BET_CLASS,
    TOLERANCE,
)


@kernel
def class_of(kind, size_pot, split_pot):
    """The class of one action: `transforms.classes_of`."""
    if kind < BET:
        return kind
    if split_pot != ONE_BET_CLASS and (kind == ALL_IN or size_pot > split_pot):
        return CLASS_LARGE
    return CLASS_SMALL


@kernel
def keep_from(row, floor):  # [n], changed in place
    """`transforms.keep_from` on one row."""
    if floor <= KEEP_ALL:
        return
    largest = 0.0
    for i in range(row.size):
        largest = max(largest, row[i])
    all_fall = largest < floor - TOLERANCE
    lowest = (largest if all_fall else floor) - TOLERANCE
    total = 0.0
    for i in range(row.size):
        if row[i] >= lowest and row[i] > 0.0:
            if all_fall:
                row[i] = 1.0
            total += row[i]
        else:
            row[i] = 0.0
    if total > 0.0:
        for i in range(row.size):
            row[i] /= total


@kernel
def by_classes(row, kinds, sizes_pot, fold_over, split_pot, between, within, inside, masses):
    """`transforms.by_classes` on one row, in place; scratch: inside [A], masses [2, NUM_CLASSES]."""
    for c in range(NUM_CLASSES):  # element by element, because slice assignments take numba seconds to compile
        masses[0, c] = 0.0
    for a in range(row.size):
        if kinds[a] >= 0:
            masses[0, class_of(kinds[a], sizes_pot[a], split_pot)] += row[a]
    if masses[0, CLASS_FOLD] > fold_over + TOLERANCE:
        for a in range(row.size):
            row[a] = row[a] / masses[0, CLASS_FOLD] if kinds[a] == CLASS_FOLD else 0.0
        return
    for c in range(NUM_CLASSES):
        masses[1, c] = masses[0, c]
    keep_from(masses[1], between)
    for c in range(NUM_CLASSES):
        if masses[1, c] > 0.0:
            for a in range(row.size):
                inside[a] = 0.0
                if class_of(kinds[a], sizes_pot[a], split_pot) == c:
                    inside[a] = row[a] / masses[0, c]
            keep_from(inside[: row.size], within)
        for a in range(row.size):
            if class_of(kinds[a], sizes_pot[a], split_pot) == c:
                row[a] = masses[1, c] * inside[a] if masses[1, c] > 0.0 else 0.0


@kernel
def is_exempt(program, street, first):
    """Whether nothing is done on a street, or at a first decision."""
    return (program.exempt_first and first) or (program.exempt_streets >> street) & 1 != 0


@kernel
def postprocess_row(row, kinds, sizes_pot, program, street, first, inside, masses):
    """Run a whole `Program` on one float64 row [A], in place; scratch as in `by_classes`."""
    if is_exempt(program, street, first):
        return
    for s in range(program.grouped.size):
        if program.grouped[s]:
            by_classes(
                row,
                kinds,
                sizes_pot,
                program.fold_over[s],
                program.split_pot[s],
                program.between[s],
                program.within[s],
                inside,
                masses,
            )
        else:
            keep_from(row, program.within[s])
