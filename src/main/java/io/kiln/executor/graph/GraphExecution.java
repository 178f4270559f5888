// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor.graph;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.ExecutableModule.Executor;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.StateMemory;
import io.kiln.executor.SystemLibrarySource;
import io.kiln.executor.graph.StorageGraph.Node;
import io.kiln.lower.LoweredOperator;
import io.kiln.tir.Buffer;
import io.kiln.tir.Buffer.Scope;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirVerifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The graph executor: packed operators in a system library, the graph, and the parameters of its nodes. With {@link ExecutorKind#NONE} there is
 * no graph: the operators stand for themselves.
 *
 * <p>Library 0 is the system library, library 1 has the operators.
 *
 * @param linked whether constants lie in the C; otherwise they are parameters of the graph
 */
public record GraphExecution(boolean linked) implements Executor {
    @Override
    public ExecutableModule drive(PlannedModule module) {
        Optional<CodeUnit.Scratch> scratch = scratch(module);
        List<TensorFunction> operators = operators(module, linked);
        List<PrimFunc> code = new ArrayList<>();
        module.callees().forEach(callee -> code.addAll(callee.functions()));
        StateMemory.reset(module).ifPresent(code::add);
        operators.forEach(operator -> code.add(operator.function()));
        List<Buffer> statics = StateMemory.arrays(module);
        List<Buffer> known = new ArrayList<>(statics);
        scratch.ifPresent(shared -> known.add(shared.memory()));
        code.forEach(function -> TirVerifier.verify(function, known));
        List<PackedFunction> packed = packed(module, operators);
        CodeUnit unit = new CodeUnit(
                module.origin(),
                module.names().library(1),
                statics,
                code,
                new PackedApi(packed, module.options().checked()),
                scratch,
                CodeUnit.RamSections.NONE);
        List<String> names = packed.stream().map(PackedFunction::name).toList();
        Artifact library = SystemLibrarySource.file(
                        module.origin(),
                        module.names().library(0) + ".c",
                        module.options().systemLibrary() ? names : List.of())
                .artifact();
        if (module.api().executor() == ExecutorKind.NONE) {
            return new ExecutableModule(unit, library, List.of(), names);
        }
        StorageGraphBuilder.Built built = StorageGraphBuilder.of(module, operators);
        StoragePlan plan = StoragePlan.of(built.graph());
        return new ExecutableModule(unit, library, description(module, built, plan), names, plan.storages());
    }

    private static List<TensorFunction> operators(PlannedModule module, boolean linked) {
        Buffer memory = scratch(module)
                .map(CodeUnit.Scratch::memory)
                .orElse(new Buffer(module.pools().get(0).name(), DType.UINT8, 0, Scope.STATE));
        return module.program().operators().stream()
                .map(operator -> TensorFunction.of(module, operator, memory, linked))
                .toList();
    }

    /** The scratch that all operators share, as large as any of them needs. */
    private static Optional<CodeUnit.Scratch> scratch(PlannedModule module) {
        long most = module.program().operators().stream()
                .mapToLong(LoweredOperator::scratchBytes)
                .max()
                .orElse(0);
        return most == 0
                ? Optional.empty()
                : Optional.of(new CodeUnit.Scratch(
                        new Buffer(module.pools().get(0).name(), DType.UINT8, most, Scope.STATE),
                        module.pools().get(0).alignment()));
    }

    private static List<PackedFunction> packed(PlannedModule module, List<TensorFunction> operators) {
        List<PackedFunction> packed = new ArrayList<>();
        operators.forEach(operator -> packed.add(operator.packed()));
        if (!module.program().function().variables().isEmpty()) {
            packed.add(new PackedFunction(module.names().reset(), List.of()));
        }
        return packed;
    }

    private static List<Artifact> description(PlannedModule module, StorageGraphBuilder.Built built, StoragePlan plan) {
        String codegen = module.origin().target().kind().text();
        return List.of(
                Artifact.of(
                        codegen,
                        ArtifactKind.GRAPH,
                        ArchivePaths.graphFile(module.name()),
                        Bytes.ofText(GraphText.print(built.graph(), plan))),
                Artifact.of(
                        codegen,
                        ArtifactKind.PARAMETERS,
                        ArchivePaths.parametersFile(module.name()),
                        ParameterFile.write(built.parameters())));
    }

    /**
     * Prints a graph as the JSON that TVM's graph executors read: {@code nodes, arg_nodes, heads, attrs, node_row_ptr}, one node a line. The
     * attributes of an operator are texts, whatever they say; those of entries are lists with the type of the list before.
     */
    private static final class GraphText {
        private static final int CPU = 1;

        private final StorageGraph graph;
        private final List<Integer> rows;

        private GraphText(StorageGraph graph) {
            this.graph = graph;
            this.rows = graph.rows();
        }

        static String print(StorageGraph graph, StoragePlan plan) {
            GraphText text = new GraphText(graph);
            List<StorageGraph.Tensor> entries = graph.entries();
            List<String> attributes = List.of(
                    typed(
                            "dltype",
                            "list_str",
                            entries,
                            tensor -> string(tensor.dtype().text())),
                    typed("device_index", "list_int", entries, tensor -> String.valueOf(CPU)),
                    typed("storage_id", "list_int", plan.storageIds(), String::valueOf),
                    typed("shape", "list_shape", entries, tensor -> list(tensor.shape(), String::valueOf)));
            return "{\n  \"nodes\": [\n    "
                    + graph.nodes().stream().map(text::node).collect(Collectors.joining(",\n    "))
                    + "\n  ],\n  \"arg_nodes\": "
                    + list(text.given(), String::valueOf)
                    + ",\n  \"heads\": "
                    + list(graph.heads(), text::reference)
                    + ",\n  \"attrs\": {\n    "
                    + String.join(",\n    ", attributes)
                    + "\n  },\n  \"node_row_ptr\": "
                    + list(text.rows, String::valueOf)
                    + "\n}\n";
        }

        private String node(Node node) {
            String name = string(node.name());
            if (node.isGiven()) {
                return "{\"op\": \"null\", \"name\": " + name + ", \"inputs\": []}";
            }
            return "{\"op\": \"tvm_op\", \"name\": " + name
                    + ", \"attrs\": {\"func_name\": " + string(node.function())
                    + ", \"num_inputs\": \"" + node.inputs().size()
                    + "\", \"num_outputs\": \"" + node.outputs().size()
                    + "\", \"flatten_data\": \"0\"}, \"inputs\": " + list(node.inputs(), this::reference) + "}";
        }

        /** The JSON of an entry: node, result of the node, and a version, which is always 0. */
        private String reference(int entry) {
            int node = 0;
            while (rows.get(node + 1) <= entry) {
                node++;
            }
            return "[" + node + ", " + (entry - rows.get(node)) + ", 0]";
        }

        private List<Integer> given() {
            return Stream.iterate(0, i -> i < graph.nodes().size(), i -> i + 1)
                    .filter(i -> graph.nodes().get(i).isGiven())
                    .toList();
        }

        private static <T> String typed(String key, String type, List<T> values, Function<T, String> print) {
            return string(key) + ": [" + string(type) + ", " + list(values, print) + "]";
        }

        private static <T> String list(List<T> values, Function<T, String> print) {
            return values.stream().map(print).collect(Collectors.joining(", ", "[", "]"));
        }

        private static String string(String text) {
            StringBuilder out = new StringBuilder("\"");
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                switch (c) {
                    case '"', '\\' -> out.append('\\').append(c);
                    case '\n' -> out.append("\\n");
                    case '\r' -> out.append("\\r");
                    case '\t' -> out.append("\\t");
                    default -> out.append(c < ' ' ? String.format(Locale.ROOT, "\\u%04x", (int) c) : c);
                }
            }
            return out.append('"').toString();
        }
    }

    /**
     * Blocks of memory for the entries of a graph, as TVM assigns them (src/relay/backend/token_allocator.cc): in the order of execution, a result
     * takes the smallest free block between its own size and 16 times that, else the largest free one from a 16th of it on, which grows, else
     * a new one. A block is free after the last operator that reads it. Inputs and parameters keep their blocks, and outputs theirs from when
     * they are written; a view shares its input's.
     */
    private static final class StoragePlan {
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
}
