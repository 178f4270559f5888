// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.executor.PlannedModule;
import io.kiln.lower.LoweredOperator;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Arenas that are planned greedily, largest tensor first, over all tensors, inputs, outputs and scratch, as TensorFlow Lite Micro plans its own. */
public final class GreedyArena {
    private static final int ALIGNMENT = 16;

    private GreedyArena() {}

    /** A tensor or scratch, and the steps at which it is needed. */
    private record Tenant(long bytes, int first, int last) {}

    /** A tensor with its place. */
    private record Placed(Tenant tenant, long offset) {
        long end() {
            return offset + tenant.bytes();
        }
    }

    /** Bytes of an arena in which each tensor lies whole at the lowest place that is free for as long as it is needed. */
    public static long bytes(PlannedModule module) {
        List<LoweredOperator> operators = module.program().operators();
        List<Tenant> tenants = new ArrayList<>();
        for (StoredValue value : module.program().values()) {
            if (value.place() != Place.STATE) {
                int last = value.place() == Place.OUTPUT ? Integer.MAX_VALUE : value.lastStep();
                tenants.add(new Tenant(aligned(value), value.firstStep(), Math.max(value.firstStep(), last)));
            }
        }
        for (int i = 0; i < operators.size(); i++) {
            tenants.add(new Tenant(aligned(operators.get(i).scratchBytes()), i, i));
        }
        tenants.sort(Comparator.comparingLong(tenant -> -tenant.bytes()));
        List<Placed> arena = new ArrayList<>();
        for (Tenant tenant : tenants) {
            long offset = 0;
            for (Placed other : arena) {
                boolean isTogether = other.tenant.first <= tenant.last && tenant.first <= other.tenant.last;
                if (isTogether && offset < other.end() && other.offset < offset + tenant.bytes) {
                    offset = other.end();
                }
            }
            arena.add(new Placed(tenant, offset));
            arena.sort(Comparator.comparingLong(Placed::offset));
        }
        return arena.stream().mapToLong(Placed::end).max().orElse(0);
    }

    /** The bytes that a value takes of an arena. */
    static long aligned(StoredValue value) {
        return aligned(value.type().bytes());
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
