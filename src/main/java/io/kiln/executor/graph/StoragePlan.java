// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.executor.graph.StorageGraph.Node;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Blocks of memory for the entries of a graph, as TVM assigns them (src/relay/backend/token_allocator.cc): in the order of execution, a result
 * takes the smallest free block between its own size and 16 times that, else the largest free one from a 16th of it on, which grows, else
 * a new one. A block is free after the last operator that reads it. Inputs and parameters keep their blocks, and outputs theirs from when
 * they are written; a view shares its input's.
 */
final class StoragePlan {
    private static final int MATCH_RANGE = 16;
    private static final int NEVER = Integer.MAX_VALUE;

    private final StorageGraph graph;
    private final int[] storageOf;
    private final List<Long> bytes = new ArrayList<>();
    private final List<String> bindings = new ArrayList<>();
    private final BitSet given = new BitSet();
    private final List<Integer> free = new ArrayList<>();
    private final int[] lastUse;

    private StoragePlan(StorageGraph graph) {
        this.graph = graph;
        int entries = graph.entries().size();
        this.storageOf = new int[entries];
        this.lastUse = lastUses(entries);
    }

    static StoragePlan of(StorageGraph graph) {
        StoragePlan plan = new StoragePlan(graph);
        int entry = 0;
        for (int i = 0; i < graph.nodes().size(); i++) {
            Node node = graph.nodes().get(i);
            for (StorageGraph.Tensor tensor : node.outputs()) {
                plan.storageOf[entry] = plan.storage(node, tensor.bytes());
                entry++;
            }
            plan.release(i, entry);
        }
        return plan;
    }

    /** Number of the block of each entry. */
    List<Integer> storageIds() {
        return Arrays.stream(storageOf).boxed().toList();
    }

    /** The blocks by number. */
    List<Storage> storages() {
        return IntStream.range(0, bytes.size())
                .mapToObj(id -> new Storage(id, bytes.get(id), bindings.get(id)))
                .toList();
    }

    /** The last node that needs each entry; a view needs its input for as long as it is needed itself. */
    private int[] lastUses(int entries) {
        int[] last = new int[entries];
        List<Integer> rows = graph.rows();
        graph.heads().forEach(head -> last[head] = NEVER);
        for (int i = graph.nodes().size() - 1; i >= 0; i--) {
            Node node = graph.nodes().get(i);
            int until = node.isView() ? Math.max(i, last[rows.get(i)]) : i;
            node.inputs().forEach(input -> last[input] = Math.max(last[input], until));
        }
        return last;
    }

    private int storage(Node node, long size) {
        if (node.isView()) {
            return storageOf[node.inputs().get(0)];
        }
        if (node.isGiven()) {
            given.set(bytes.size());
            return add(size, node.name());
        }
        Optional<Integer> found = reusable(size);
        if (found.isEmpty()) {
            return add(size, "");
        }
        int id = found.get();
        free.remove((Integer) id);
        bytes.set(id, Math.max(bytes.get(id), size));
        return id;
    }

    private int add(long size, String binding) {
        bytes.add(size);
        bindings.add(binding);
        return bytes.size() - 1;
    }

    private Optional<Integer> reusable(long size) {
        Optional<Integer> smallest = free.stream()
                .filter(id -> bytes.get(id) >= size && bytes.get(id) <= MATCH_RANGE * size)
                .min((a, b) -> Long.compare(bytes.get(a), bytes.get(b)));
        return smallest.isPresent()
                ? smallest
                : free.stream()
                        .filter(id -> bytes.get(id) < size && bytes.get(id) >= size / MATCH_RANGE)
                        .max((a, b) -> Long.compare(bytes.get(a), bytes.get(b)));
    }

    /** Frees the blocks that no node after this one needs. */
    private void release(int node, int entries) {
        for (int entry = 0; entry < entries; entry++) {
            int id = storageOf[entry];
            boolean isOver = lastUse[entry] <= node && !given.get(id) && !free.contains(id);
            if (isOver && neededLater(id, node, entries).isEmpty()) {
                free.add(id);
            }
        }
    }

    private Optional<Integer> neededLater(int id, int node, int entries) {
        return IntStream.range(0, entries)
                .filter(entry -> storageOf[entry] == id && lastUse[entry] > node)
                .boxed()
                .findFirst();
    }
}
