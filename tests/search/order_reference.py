"""Reference implementation of grow-shrink in NumPy, for columns and for blocks of columns."""

import numpy as np

from cosmodag.search.gaussian_scores import growing_penalty


def residual_share(correlations, targets, given):
    """Ratio of the determinants of the targets' conditional and marginal covariances."""
    targets, given = list(targets), list(given)
    alone = correlations[np.ix_(targets, targets)]
    if not given:
        return 1.0
    outer = correlations[np.ix_(given, targets)]
    left = alone - outer.T @ np.linalg.solve(correlations[np.ix_(given, given)], outer)
    return float(np.linalg.det(left) / np.linalg.det(alone))


def grow_shrink(correlations, half, v, candidates, penalty, growing, required=(), blocks=None):
    """Growing path and parents of v among the candidates, and the local score of v."""
    blocks = [[j] for j in range(len(correlations))] if blocks is None else blocks
    targets = blocks[v]

    def score(parents, per_arc=penalty):
        given = [column for x in parents for column in blocks[x]]
        share = residual_share(correlations, targets, given)
        return -half * np.log(share) - per_arc * len(targets) * len(given)

    path = list(required)
    while True:
        options = [(score([*path, x], growing), -x) for x in candidates if x not in path]
        if not options or max(options)[0] <= score(path, growing):
            break
        path.append(-max(options)[1])
    parents = list(path)
    while True:
        droppable = [x for x in parents if x not in required]
        options = [(score([y for y in parents if y != x]), x) for x in droppable]
        if not options or max(options)[0] <= score(parents):
            break
        parents.remove(max(options)[1])
    return path, sorted(parents), score(parents)


def parents_on(moments, order, penalty, support=None, required=None):
    """Adjacency matrix and local scores of all variables for an order."""
    d = len(order)
    adjacency, scores = np.zeros((d, d), bool), np.zeros(d)
    growing = growing_penalty(penalty, d)
    for place, v in enumerate(order):
        forced = [] if required is None else list(np.flatnonzero(required[:, v]))
        candidates = [u for u in order[:place] if support is None or support[u, v] or u in forced]
        group = moments.group[v]
        _, parents, scores[v] = grow_shrink(
            moments.correlations[group],
            0.5 * moments.rows[group],
            v,
            candidates,
            penalty,
            growing,
            forced,
        )
        adjacency[parents, v] = True
    return adjacency, scores


def orders_with_arc_turned(order, arcs, tail, head):
    """Orders that reverse an arc: head and ancestors first, or tail and descendants last."""
    place = {v: at for at, v in enumerate(order)}
    between = order[place[tail] + 1 : place[head]]
    above, below = [head], [tail]
    for v in between[::-1]:
        above += [v] if arcs[v, above].any() else []
    for v in between:
        below += [v] if arcs[below, v].any() else []
    first, last = order[: place[tail]], order[place[head] + 1 :]
    others = [v for v in between if v not in above]
    yield [*first, *above[:0:-1], head, tail, *others, *last]
    others = [v for v in between if v not in below]
    yield [*first, *others, head, tail, *below[1:], *last]
