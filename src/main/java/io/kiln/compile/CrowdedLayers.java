// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.stream.PlannedProgram;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.StreamPlanner.Planned;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Layers whose scratch makes a program take more memory than its tensors, each whole and in a place of its own, with the least scratch: speed
 * is not worth that much.
 */
final class CrowdedLayers {
    private static final int ALIGNMENT = 16;

    private CrowdedLayers() {}

    /**
     * The names of their functions.
     *
     * @param sparing makes loops with the least scratch
     */
    static Set<String> of(Planned program, Lowering sparing, PlannedProgram planned) {
        List<LoweredOperator> operators = planned.program().operators();
        long[] tensors = new long[operators.size()];
        planned.program().values().stream()
                .filter(value -> value.place() == Place.WORKSPACE || program.withInputsAndOutputs())
                .forEach(value -> add(value, tensors));
        long bytes = planned.layout().plan().bytes();
        if (bytes <= LongStream.of(tensors).max().orElse(0)) {
            return Set.of();
        }
        Map<String, FusedOperator> byName =
                program.operators().stream().collect(Collectors.toMap(FusedOperator::name, Function.identity()));
        long limit = 0;
        for (int i = 0; i < tensors.length; i++) {
            FusedOperator op = byName.get(operators.get(i).function().name());
            long least = sparing.lower(op, Rows.whole(op.type().shape())).scratchBytes();
            limit = Math.max(limit, tensors[i] + aligned(least));
        }
        Set<String> crowded = new HashSet<>();
        for (int i = 0; i < tensors.length; i++) {
            if (bytes > limit && tensors[i] + operators.get(i).scratchBytes() > limit) {
                crowded.add(operators.get(i).function().name());
            }
        }
        return crowded;
    }

    private static void add(StoredValue value, long[] tensors) {
        int last = value.place() == Place.OUTPUT ? tensors.length - 1 : Math.min(value.lastStep(), tensors.length - 1);
        for (int i = Math.max(0, value.firstStep()); i <= last; i++) {
            tensors[i] += aligned(value.type().bytes());
        }
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
