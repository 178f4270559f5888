// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.memory.PoolBounds;
import io.kiln.memory.WorkspaceBuffer;
import io.kiln.stream.PlannedProgram;
import io.kiln.stream.StoredValue;
import io.kiln.stream.StoredValue.Place;
import io.kiln.stream.WorkspaceLayout;
import io.kiln.target.MemoryPool;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Whether the memories of a board hold what a program needs, where its targets reach it.
 *
 * @param model name of the model
 * @param pools its memories
 * @param planned the program
 * @param names of its buffers, for people
 */
record PoolFit(String model, List<MemoryPool> pools, PlannedProgram planned, Map<String, String> names) {
    private static final String MORE =
            "Let it take more of a memory with kiln.memory.<name>, or plan for RAM with kiln.optimize=ram";

    PoolFit {
        pools = List.copyOf(pools);
        names = Map.copyOf(names);
    }

    /**
     * Checks the plan, and what lies outside of it: variables of the model, and the caller's inputs and outputs, which are taken to lie in the
     * memory of variables.
     *
     * @throws KilnException naming every buffer for which there is no room
     */
    void require(Io io) {
        Problems problems = new Problems(Failure.MEMORY);
        WorkspaceLayout layout = planned.layout();
        OptionalLong end = layout.bounds().end();
        long last = end.orElse(PoolBounds.NOWHERE - 1);
        for (WorkspaceBuffer buffer : layout.plan().buffers()) {
            if (layout.plan().offset(buffer.name()) >= PoolBounds.NOWHERE) {
                problems.add(noRoom(buffer));
            }
        }
        if (problems.list().isEmpty() && layout.plan().bytes() > last) {
            problems.add(tooLarge());
        }
        MemoryPool variables = pools.get(pools.size() - 1);
        for (StoredValue value : planned.program().values()) {
            boolean isOutside = value.place() == Place.STATE || (io == Io.CALLER && value.place() != Place.WORKSPACE);
            Set<String> targets = targets(WorkspaceLayout.valueName(value.id()));
            if (isOutside && !variables.reach().covers(targets)) {
                problems.add(outside(value, targets, variables));
            }
        }
        problems.throwIfAny();
    }

    private Set<String> targets(String buffer) {
        return new TreeSet<>(planned.layout().targets().getOrDefault(buffer, Set.of()));
    }

    private Problem tooLarge() {
        WorkspaceLayout layout = planned.layout();
        return Failure.MEMORY.problem(
                "the workspace does not fit in its memory pools: its values take at least "
                        + layout.plan().lowerBound() + " bytes at once, the plan "
                        + layout.plan().bytes(),
                where(),
                "at most " + pools.stream().map(MemoryPool::text).collect(Collectors.joining(", ")),
                MORE);
    }

    private Problem noRoom(WorkspaceBuffer buffer) {
        Set<String> targets = targets(buffer.name());
        List<MemoryPool> reached =
                pools.stream().filter(pool -> pool.reach().covers(targets)).toList();
        String name = names.getOrDefault(buffer.name(), buffer.name());
        String memories = pools.stream().map(MemoryPool::text).collect(Collectors.joining(", "));
        return Failure.TARGET.problem(
                "`" + name + "` (" + buffer.bytes() + " bytes) is read or written by " + String.join(" and ", targets)
                        + (reached.isEmpty()
                                ? ", and no memory of the workspace is reached by "
                                        + (targets.size() == 1 ? "it" : "all of them")
                                : ", and there is no room for it in "
                                        + reached.stream().map(MemoryPool::text).collect(Collectors.joining(", "))),
                where(),
                "a memory with room that " + reached(targets) + "; there are " + memories,
                reached.isEmpty() ? "Add one to pools.workspace of the board, or correct its targets" : MORE);
    }

    private Problem outside(StoredValue value, Set<String> targets, MemoryPool variables) {
        String buffer = WorkspaceLayout.valueName(value.id());
        boolean isState = value.place() == Place.STATE;
        return Failure.TARGET.problem(
                "`" + names.getOrDefault(buffer, buffer) + "` is read or written by " + String.join(" and ", targets)
                        + ", and lies with "
                        + (isState ? "the variables" : "the caller's variables") + " in " + variables.text(),
                where(),
                "a memory that " + reached(targets),
                isState
                        ? "Let the last memory of pools.workspace be one that all of them reach"
                        : "Plan inputs and outputs with kiln.io=workspace, or let the last memory of pools.workspace be one that all of them reach");
    }

    private static String reached(Set<String> targets) {
        return String.join(" and ", targets) + (targets.size() == 1 ? " reaches" : " reach");
    }

    private String where() {
        return "model `" + model + "`";
    }
}
