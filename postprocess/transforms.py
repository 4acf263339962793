"""Transforms of probability rows: thresholding, purification, and both by classes of actions.

Sources: Ganzfried, Sandholm and Waugh (AAMAS 2012) for thresholding and purification; Brown, Ganzfried and Sandholm
(AAMAS 2015), section 4, for classes and the fold threshold.

Every function takes one row [A] or a table [rows, A] and works along the last axis, so that the exploitability of a
post-processed strategy can be measured on its whole table. Purification is thresholding with a floor above every
probability: the largest stays. So one number, the `floor`, stands for every rule: 0 keeps all, t in (0, 1] is
threshold(t), `PURIFY` is purification.

Nothing here is random: where purification would break a tie at random, the tied actions get equal probability, and
the draw of an action from the row breaks the tie.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]

PURIFY = 2.0  # a floor above every probability: only the largest stays
KEEP_ALL = 0.0
NEVER_FOLD = 1.0  # P(fold) > 1 never holds
ONE_BET_CLASS = np.inf  # every bet is at most this many pots: all are small
# Rows come from float32 tables and class sums have rounding errors: values closer than this are equal. The largest
# entry is at least 1 / A, so a zero never ties with it.
TOLERANCE = 1e-6

# Kinds of actions. Check is a call. An all-in is a bet, and a large one whatever its size: it ends the betting.
ABSENT, FOLD, CALL, BET, ALL_IN = -1, 0, 1, 2, 3
# Classes of actions. Without a split every bet, the all-in too, is in CLASS_SMALL.
CLASS_FOLD, CLASS_CALL, CLASS_SMALL, CLASS_LARGE = 0, 1, 2, 3
NUM_CLASSES = 4


class Actions(NamedTuple):
    """What the columns of a row mean: [A], or [rows, A] where rows differ.

    `ABSENT` columns pad rows with fewer actions; their probability is 0 and stays 0.
    """

    kinds: npt.NDArray[np.int8]
    sizes_pot: npt.NDArray[np.float64]  # bet beyond the call, in pots after the call; read for BET alone


def keep_from(table: FloatArray, floor: float) -> FloatArray:
    """Entries below `floor` become 0 and the rest is scaled to sum 1; if all fall, the largest stays (ties share).

    A row of zeros stays zeros.
    """
    if floor <= KEEP_ALL:
        return table
    largest = table.max(axis=-1, keepdims=True)
    all_fall = largest < floor - TOLERANCE
    kept = (table >= np.where(all_fall, largest, floor) - TOLERANCE) & (table > 0.0)
    weights = np.where(all_fall, 1.0, table) * kept
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights / np.where(total > 0.0, total, 1.0))


def threshold(table: FloatArray, floor: float) -> FloatArray:
    """Probabilities below `floor` become 0, the rest is renormalised; if all fall, the largest stays."""
    return keep_from(table, floor)


def purify(table: FloatArray) -> FloatArray:
    """The largest probability becomes 1; tied ones share it equally."""
    return keep_from(table, PURIFY)


def classes_of(actions: Actions, split_pot: float = ONE_BET_CLASS) -> npt.NDArray[np.int8]:
    """The class of every column; ABSENT columns get -1. Bets of at most `split_pot` pots are small."""
    classes = np.where(actions.kinds == BET, CLASS_SMALL, actions.kinds)
    if split_pot != ONE_BET_CLASS:
        large = (actions.kinds == BET) & (actions.sizes_pot > split_pot)
        return np.where(large | (actions.kinds == ALL_IN), CLASS_LARGE, classes).astype(np.int8)
    return np.where(actions.kinds == ALL_IN, CLASS_SMALL, classes).astype(np.int8)


def by_classes(
    table: FloatArray,
    actions: Actions,
    *,
    fold_over: float = NEVER_FOLD,
    split_pot: float = ONE_BET_CLASS,
    between: float = PURIFY,
    within: float = PURIFY,
) -> FloatArray:
    """Fold outright or decide between classes of actions, then within them: Brown et al. (AAMAS 2015), section 4.

    1. If P(fold) > `fold_over`, fold. 2. `between` is the floor of the rule on the summed classes. 3. `within` is the
    floor of the rule inside each class that is left, on probabilities conditional on the class. The paper names these
    knobs and publishes one setting, `new`; that the inner floor is conditional is our reading.
    """
    classes = classes_of(actions, split_pot)
    parts = [np.where(classes == c, table, 0.0) for c in range(NUM_CLASSES)]
    masses = np.stack([part.sum(axis=-1) for part in parts], axis=-1)
    chosen = keep_from(masses, between)
    result = np.zeros_like(parts[0])
    for c in np.unique(classes[classes != ABSENT]):
        mass = masses[..., c, None]
        result += chosen[..., c, None] * keep_from(parts[c] / np.where(mass > 0.0, mass, 1.0), within)
    fold_mass = masses[..., CLASS_FOLD, None]
    folds = fold_mass > fold_over + TOLERANCE
    return np.where(folds, parts[CLASS_FOLD] / np.where(folds, fold_mass, 1.0), result)


def new(table: FloatArray, actions: Actions, fold_over: float) -> FloatArray:
    """`new(t)` of Brown et al. (AAMAS 2015): fold if P(fold) > t, else purify fold, call, bets; then the bets."""
    return by_classes(table, actions, fold_over=fold_over)
