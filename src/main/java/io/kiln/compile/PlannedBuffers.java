// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.BufferOverlaps;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.memory.MemoryPlan;
import io.kiln.stream.Program;
import io.kiln.stream.StoredValue;
import io.kiln.stream.WorkspaceLayout;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.stream.IntStream;

/** Describes a memory plan for people: planned buffers by the names of their tensors. */
final class PlannedBuffers {
    private PlannedBuffers() {}

    /** The plan's buffers in order of first use, then by offset. */
    static List<PlannedBuffer> of(Program program, WorkspaceLayout layout, TensorDescriptions tensors) {
        Map<String, String> names = names(program, tensors);
        MemoryPlan plan = layout.plan();
        List<PlannedBuffer> placed = plan.buffers().stream()
                .map(buffer -> new PlannedBuffer(
                        names.getOrDefault(buffer.name(), buffer.name()),
                        plan.offset(buffer.name()),
                        buffer.bytes(),
                        buffer.firstUse(),
                        buffer.lastUse(),
                        List.of()))
                .sorted(Comparator.comparingInt(PlannedBuffer::firstUse).thenComparingLong(PlannedBuffer::offset))
                .toList();
        List<SortedSet<Integer>> overlaps = BufferOverlaps.of(placed);
        return IntStream.range(0, placed.size())
                .mapToObj(i -> placed.get(i)
                        .overlapping(overlaps.get(i).stream()
                                .map(other -> placed.get(other).name())
                                .toList()))
                .toList();
    }

    /** Names for people by buffer name. */
    static Map<String, String> names(Program program, TensorDescriptions tensors) {
        Map<String, String> names = new HashMap<>();
        for (StoredValue value : program.values()) {
            String tensor = switch (value.place()) {
                case INPUT -> tensors.inputs().get(value.index()).name();
                case OUTPUT -> tensors.outputs().get(value.index()).name();
                case WORKSPACE, STATE -> tensors.describe(value.id()).name();
            };
            names.put(WorkspaceLayout.valueName(value.id()), tensor);
        }
        for (int i = 0; i < program.operators().size(); i++) {
            names.put(
                    WorkspaceLayout.scratchName(i),
                    program.operators().get(i).function().name() + " scratch");
        }
        return names;
    }
}
