// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Searches where to cut a program into segments. Each candidate is simulated alone and placed by first fit, which gives
 * its memory need; a shortest path over the cuts then gives the segments. A candidate's lower bound (the bytes alive at
 * once) is much cheaper to compute than a placement, so candidates are placed only when a path uses them.
 */
final class Segmentation {
    /** Limit of candidates, and thereby of the time for long programs. */
    private static final int MOST_CANDIDATES = 4_000;

    private static final int LONGEST = 40;

    private final RowGraph graph;
    private final boolean withInputsAndOutputs;
    private final int n;
    private final int longest;
    /** Values alive before each node. */
    private final List<List<Integer>> alive = new ArrayList<>();

    private final List<List<Candidate>> from = new ArrayList<>();

    /** A segment and its known bounds. */
    private static final class Candidate {
        private final Segment segment;
        private final int calls;
        private long bytes;
        private boolean exact;

        Candidate(Segment segment, int calls, long bytes) {
            this.segment = segment;
            this.calls = calls;
            this.bytes = bytes;
        }
    }

    private Segmentation(RowGraph graph, boolean withInputsAndOutputs) {
        this.graph = graph;
        this.withInputsAndOutputs = withInputsAndOutputs;
        this.n = graph.nodes().size();
        this.longest = Math.max(2, Math.min(LONGEST, MOST_CANDIDATES / Math.max(1, n)));
    }

    /** Prepares the search. */
    static Segmentation of(RowGraph graph, boolean withInputsAndOutputs) {
        Segmentation search = new Segmentation(graph, withInputsAndOutputs);
        List<Integer> alive = List.of();
        for (int first = 0; first < search.n; first++) {
            alive = graph.aliveBefore(first, alive);
            search.alive.add(alive);
            search.from.add(search.candidates(first));
        }
        return search;
    }

    private int mostEnd(int first) {
        return Math.min(n, first + longest);
    }

    /** The part of the graph that begins with a node; not kept, because it has all values that are alive there. */
    private RowGraph part(int first) {
        return graph.part(first, mostEnd(first), alive.get(first));
    }

    private List<Candidate> candidates(int first) {
        RowGraph part = part(first);
        List<Candidate> candidates = new ArrayList<>();
        candidate(new Segment(first, first + 1, false), part).ifPresent(candidates::add);
        if (graph.nodes().get(first).canStep()) {
            for (int end = first + 1; end <= mostEnd(first) && !graph.touchesState(end - 1); end++) {
                candidate(new Segment(first, end, true), part).ifPresent(candidates::add);
            }
        }
        return candidates;
    }

    private Optional<Candidate> candidate(Segment segment, RowGraph part) {
        List<Segment> alone = List.of(segment.inItsPart());
        return Tape.of(part, alone)
                .map(tape -> new Candidate(
                        segment,
                        tape.calls().size(),
                        liveness(alone, part, tape).peak()));
    }

    private Liveness liveness(List<Segment> alone, RowGraph part, Tape tape) {
        return Liveness.of(part, tape, 0, alone.get(0).end(), scratch(part, alone), withInputsAndOutputs);
    }

    /** Places a candidate; returns whether its bound has changed. */
    private boolean place(Candidate candidate) {
        if (candidate.exact) {
            return false;
        }
        long known = candidate.bytes;
        List<Segment> alone = List.of(candidate.segment.inItsPart());
        RowGraph part = part(candidate.segment.first());
        Tape tape = Tape.of(part, alone).orElseThrow();
        candidate.bytes = liveness(alone, part, tape).firstFit();
        candidate.exact = true;
        return candidate.bytes > known;
    }

    /** Bytes of scratch by node, as used by the segments. */
    static long[] scratch(RowGraph graph, List<Segment> segments) {
        long[] scratch = new long[graph.nodes().size()];
        for (Segment segment : segments) {
            for (int i = segment.first(); i < segment.end(); i++) {
                RowGraph.Node node = graph.nodes().get(i);
                scratch[i] = segment.byRows() ? node.rowScratch() : node.wholeScratch();
            }
        }
        return scratch;
    }

    /** Bytes of the segments with the least need. */
    long leastBytes() {
        return path(Long.MAX_VALUE, true).bytes;
    }

    /** Segments with the fewest calls of which none needs more than the limit; empty if there are none. */
    List<Segment> fewestCalls(long mostBytes) {
        return path(mostBytes, false).segments();
    }

    /** Best path to a cut. */
    private record Path(Optional<Path> before, Optional<Candidate> last, long bytes, int calls) {
        Path then(Candidate next) {
            // Each interleaved operator has a small cost in addition to its calls.
            Segment segment = next.segment;
            int more = calls + next.calls + (segment.byRows() ? segment.end() - segment.first() : 0);
            return new Path(Optional.of(this), Optional.of(next), Math.max(bytes, next.bytes), more);
        }

        boolean isBetter(Path other, boolean byBytes) {
            return (byBytes && bytes != other.bytes) ? bytes < other.bytes : calls < other.calls;
        }

        List<Candidate> candidates() {
            List<Candidate> all = new ArrayList<>();
            Optional<Path> at = Optional.of(this);
            while (at.isPresent()) {
                at.get().last.ifPresent(all::add);
                at = at.get().before;
            }
            Collections.reverse(all);
            return all;
        }

        List<Segment> segments() {
            return candidates().stream().map(c -> c.segment).toList();
        }
    }

    private Path path(long mostBytes, boolean byBytes) {
        while (true) {
            Path best = shortest(mostBytes, byBytes);
            boolean changed = false;
            for (Candidate candidate : best.candidates()) {
                changed |= place(candidate);
            }
            if (!changed) {
                return best;
            }
        }
    }

    private Path shortest(long mostBytes, boolean byBytes) {
        Path start = new Path(Optional.empty(), Optional.empty(), 0, 0);
        List<Optional<Path>> to = new ArrayList<>(Collections.nCopies(n + 1, Optional.empty()));
        to.set(0, Optional.of(start));
        for (int cut = 0; cut < n; cut++) {
            if (to.get(cut).isEmpty()) {
                continue;
            }
            for (Candidate candidate : from.get(cut)) {
                if (candidate.bytes <= mostBytes) {
                    Path longer = to.get(cut).get().then(candidate);
                    int end = candidate.segment.end();
                    if (to.get(end).isEmpty() || longer.isBetter(to.get(end).get(), byBytes)) {
                        to.set(end, Optional.of(longer));
                    }
                }
            }
        }
        return to.get(n).orElse(start);
    }

    /**
     * Consecutive nodes of the graph that run together, whole or row by row.
     *
     * @param first first node
     * @param end node after the last
     * @param byRows whether they run interleaved, row by row; otherwise it is one node that runs in one call
     */
    record Segment(int first, int end, boolean byRows) {
        /** The same segment with nodes numbered from its own first. */
        Segment inItsPart() {
            return new Segment(0, end - first, byRows);
        }
    }
}
