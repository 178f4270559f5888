// SPDX-License-Identifier: Apache-2.0
package io.kiln.stream;

import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.RowGraph.Node;
import io.kiln.stream.RowGraph.Use;
import io.kiln.stream.Segmentation.Segment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The calls of a program in order. In a segment that runs by rows the order follows demand: to compute the next row of
 * its last operator, exactly the missing rows of its inputs are computed first, recursively.
 *
 * @param calls in order
 */
record Tape(List<Call> calls) {
    Tape {
        calls = List.copyOf(calls);
    }

    /** Runs a node for steps {@code [begin, end)}. */
    record Call(int node, int begin, int end) {}

    /**
     * Records the calls of segments. Of several inputs of a node, the first is requested first.
     *
     * @return empty if a segment does not end in one node, so that the requested rows are undefined
     */
    static Optional<Tape> of(RowGraph graph, List<Segment> segments) {
        Recorder recorder = new Recorder(graph);
        for (Segment segment : segments) {
            if (!segment.byRows()) {
                recorder.calls.add(new Call(
                        segment.first(), 0, graph.nodes().get(segment.first()).steps()));
            } else if (!recorder.record(segment)) {
                return Optional.empty();
            }
        }
        return Optional.of(new Tape(recorder.calls));
    }

    /** Records the calls that a demand for rows causes. */
    private static final class Recorder {
        private final RowGraph graph;
        private final int[] next;
        private final List<Call> calls = new ArrayList<>();

        Recorder(RowGraph graph) {
            this.graph = graph;
            this.next = new int[graph.nodes().size()];
        }

        boolean record(Segment segment) {
            for (int i = segment.first(); i < segment.end() - 1; i++) {
                if (!isRead(graph.nodes().get(i).output(), i + 1, segment.end())) {
                    return false;
                }
            }
            advance(
                    segment,
                    segment.end() - 1,
                    graph.nodes().get(segment.end() - 1).steps());
            // Values that later segments or the caller read are computed to their last row.
            for (int i = segment.first(); i < segment.end() - 1; i++) {
                RowGraph.Value value = graph.values().get(graph.nodes().get(i).output());
                if (value.lastUser() >= segment.end() || value.place() == StoredValue.Place.OUTPUT) {
                    advance(segment, i, graph.nodes().get(i).steps());
                }
            }
            return true;
        }

        private boolean isRead(int value, int first, int end) {
            for (int i = first; i < end; i++) {
                if (graph.nodes().get(i).reads(value)) {
                    return true;
                }
            }
            return false;
        }

        private void advance(Segment segment, int index, int steps) {
            Node node = graph.nodes().get(index);
            while (next[index] < steps) {
                int step = next[index];
                int end = Math.min(step + node.block(), node.steps());
                for (Use use : node.uses()) {
                    int producer = graph.values().get(use.value()).producer();
                    if (producer >= segment.first()) {
                        Node source = graph.nodes().get(producer);
                        int rows = use.rows().endRow(step, end);
                        advance(segment, producer, source.givesAllRowsAtOnce() && rows > 0 ? source.steps() : rows);
                    }
                }
                calls.add(new Call(index, step, end));
                next[index] = end;
            }
        }
    }
}
