// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.CNames;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.BufferOverlaps;
import io.kiln.artifact.ModelMetadata.ExternalPool;
import io.kiln.artifact.ModelMetadata.ExternalPool.Kind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.Memory;
import io.kiln.artifact.ModelMetadata.Plan;
import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.artifact.ModelMetadata.Storage;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.artifact.OperatorInfo.ChosenSchedule;
import io.kiln.artifact.OperatorInfo.Cost;
import io.kiln.artifact.OperatorInfo.OperatorCodegen;
import io.kiln.base.Bytes;
import io.kiln.executor.ExecutableModule;
import io.kiln.executor.PlannedModule;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Group;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.LoweredOperator;
import io.kiln.memory.MemoryPlan;
import io.kiln.partition.Externals;
import io.kiln.stream.Program;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.target.MemoryPool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Describes a compiled model for readers other than a C compiler. */
final class LibraryMetadata {
    /** How the graph executor's memory is planned. */
    private static final String STORAGE_IDS = "storage ids";

    private final PlannedModule module;
    private final long sharedBytes;
    private final Map<String, Long> sharers;
    private final List<String> functions;
    private final List<Storage> storages;
    private final RamCopies copies;
    private final TensorDescriptions tensors;
    private final Map<Integer, List<String>> layers;
    private final Map<Integer, Long> macs;
    private final Map<Integer, OperatorCodegen> codegens;
    private final Map<Integer, Long> apart;

    private LibraryMetadata(
            Function imported,
            Function fused,
            PlannedModule module,
            ExecutableModule executable,
            long sharedBytes,
            Externals externals,
            RamCopies copies) {
        this.copies = copies;
        this.module = module;
        this.sharedBytes = sharedBytes;
        this.sharers = SharedFunctions.sharers(executable.code());
        this.functions = executable.functions();
        this.storages = executable.storages();
        this.tensors = TensorDescriptions.of(fused);
        this.layers = layers(fused);
        this.macs = macs(imported, fused);
        this.codegens = codegens(fused, module, externals);
        this.apart = apart(fused);
    }

    /**
     * The description.
     *
     * @param imported the model as it was imported
     * @param fused the model after the last pass
     * @param module what became of it
     * @param executable the same with its executor
     * @param sharedBytes bytes of tables of operators that are those of others
     * @param externals the code generators beside Kiln's own
     * @param copies what is copied to RAM
     */
    static ModelMetadata of(
            Function imported,
            Function fused,
            PlannedModule module,
            ExecutableModule executable,
            long sharedBytes,
            Externals externals,
            RamCopies copies) {
        return new LibraryMetadata(imported, fused, module, executable, sharedBytes, externals, copies).build();
    }

    private ModelMetadata build() {
        return new ModelMetadata(
                module.name(),
                module.origin().target().text(),
                module.api().withFunctions(functions),
                new Memory(workspaceBytes(), alignment(), constantBytes(), pools(), storages, copies),
                isPlanned() ? plan() : new Plan(STORAGE_IDS, workspaceBytes(), workspaceBytes(), List.of()),
                module.program().operators().stream().map(this::describe).toList());
    }

    private long constantBytes() {
        return module.constantBytes()
                - sharedBytes
                + apart.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Bytes of the weights that parts for an NPU share, which lie beside the tables of operators: counted for the first of them. */
    private static Map<Integer, Long> apart(Function fused) {
        Map<Integer, Long> bytes = new HashMap<>();
        Set<Bytes> seen = new HashSet<>();
        for (Binding binding : fused.bindings()) {
            if (binding.op() instanceof EthosU part) {
                Bytes weights = binding.constant(part.payload() + 1).data();
                if (seen.add(weights)) {
                    bytes.put(binding.id(), (long) weights.size());
                }
            }
        }
        return bytes;
    }

    private List<ExternalPool> pools() {
        return module.api().io() == Io.CALLER
                ? List.of()
                : module.workspacePools().stream()
                        .map(pool -> new ExternalPool(pool.name(), Kind.WORKSPACE, pool.bytes()))
                        .toList();
    }

    private int alignment() {
        return module.pools().stream().mapToInt(MemoryPool::alignment).max().orElseThrow();
    }

    private boolean isPlanned() {
        return module.api().executor() == ExecutorKind.AOT;
    }

    /** The planned workspace; for the graph executor its blocks, without those of inputs and parameters, and the scratch that operators share. */
    private long workspaceBytes() {
        if (isPlanned()) {
            return module.workspaceBytes();
        }
        return storages.stream()
                        .filter(storage -> storage.inputBinding().isEmpty())
                        .mapToLong(Storage::bytes)
                        .sum()
                + module.program().operators().stream()
                        .mapToLong(LoweredOperator::scratchBytes)
                        .max()
                        .orElse(0);
    }

    private Plan plan() {
        MemoryPlan plan = module.layout().plan();
        return new Plan(
                plan.algorithm(),
                module.layout().bytes(),
                plan.lowerBound(),
                PlannedBuffers.of(module.program(), module.layout(), tensors));
    }

    private OperatorInfo describe(LoweredOperator operator) {
        List<TensorInfo> inputs =
                operator.inputs().stream().map(tensors::describe).toList();
        return new OperatorInfo(
                operator.function().name(),
                layers.get(operator.output()),
                operator.op(),
                inputs,
                List.of(tensors.describe(operator.output())),
                new Cost(
                        macs.get(operator.output()),
                        operator.executedMacs(),
                        operator.function().constantBytes() + apart.getOrDefault(operator.output(), 0L),
                        operator.scratchBytes()),
                new ChosenSchedule(operator.schedule(), reason(operator), codegens.get(operator.output())));
    }

    /** Of a schedule, and how many operators have the same function. */
    private String reason(LoweredOperator operator) {
        String shared = Optional.ofNullable(sharers.get(operator.function().name()))
                .map(count -> "one function for " + count + " operators")
                .orElse("");
        return Stream.of(operator.reason(), shared)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining("; "));
    }

    /** Multiply-accumulates of the imported operators, by the ids that the fused groups compute: passes keep ids but may reduce the work. */
    private static Map<Integer, Long> macs(Function imported, Function fused) {
        Map<Integer, Long> nominal = imported.bindings().stream().collect(Collectors.toMap(Binding::id, Binding::macs));
        return fused.groups().stream()
                .collect(Collectors.toMap(
                        Group::output,
                        group -> group.bindings().stream()
                                .mapToLong(id -> nominal.getOrDefault(id, 0L))
                                .sum()));
    }

    /** What generates the code of each group, by the id that the group computes. */
    private static Map<Integer, OperatorCodegen> codegens(Function fused, PlannedModule module, Externals externals) {
        Map<Integer, String> stayed =
                externals.pass().map(pass -> pass.stayed(fused)).orElse(Map.of());
        String own = module.origin().target().kind().text();
        return fused.groups().stream()
                .collect(Collectors.toMap(
                        Group::output,
                        group -> group.composite()
                                .map(composite -> new OperatorCodegen(composite.compiler(), composite.name(), ""))
                                .orElseGet(
                                        () -> new OperatorCodegen(own, "", stayed.getOrDefault(group.output(), "")))));
    }

    /** The model's own operators fused into each group, by the id that the group computes. */
    private static Map<Integer, List<String>> layers(Function fused) {
        Map<Integer, Binding> bindings = fused.bindingsById();
        return fused.groups().stream()
                .collect(Collectors.toMap(
                        Group::output,
                        group -> group.bindings().stream()
                                .map(id -> bindings.get(id).origin().layer())
                                .distinct()
                                .toList()));
    }

    /** Describes a function's tensors for people and for other programs. */
    static final class TensorDescriptions {
        private final List<TensorInfo> inputs = new ArrayList<>();
        private final List<TensorInfo> outputs = new ArrayList<>();
        private final Map<Integer, TensorInfo> byId = new HashMap<>();

        private TensorDescriptions() {}

        static TensorDescriptions of(Function function) {
            TensorDescriptions described = new TensorDescriptions();
            Map<Integer, TensorType> types = function.types();
            List<String> cNames = CNames.tensors(
                    function.name(),
                    function.params().stream().map(Parameter::name).toList(),
                    function.results().stream().map(Result::name).toList());
            function.bindings()
                    .forEach(
                            b -> described.byId.put(b.id(), info(b.origin().tensor(), "", b.type(), Optional.empty())));
            function.variables()
                    .forEach(v -> described.byId.put(v.id(), info(v.name(), "", v.type(), Optional.empty())));
            for (Parameter parameter : function.params()) {
                TensorInfo info = info(
                        parameter.name(),
                        cNames.get(described.inputs.size()),
                        parameter.type(),
                        parameter.quantization());
                described.inputs.add(info);
                described.byId.put(parameter.id(), info);
            }
            for (Result result : function.results()) {
                TensorInfo info = info(
                                result.name(),
                                cNames.get(described.inputs.size() + described.outputs.size()),
                                types.get(result.id()),
                                result.quantization())
                        .labelled(result.labels());
                described.outputs.add(info);
                described.byId.merge(result.id(), info, (inner, output) -> inner.labelled(output.labels()));
            }
            return described;
        }

        private static TensorInfo info(
                String name, String cName, TensorType type, Optional<Quantization> quantization) {
            return new TensorInfo(
                    name,
                    cName,
                    type.dtype(),
                    type.shape().dims(),
                    quantization.map(Quantization::scale).orElse(0f),
                    quantization.map(Quantization::zeroPoint).orElse(0));
        }

        List<TensorInfo> inputs() {
            return inputs;
        }

        List<TensorInfo> outputs() {
            return outputs;
        }

        TensorInfo describe(int id) {
            return byId.get(id);
        }
    }

    /** Describes a memory plan for people: planned buffers by the names of their tensors. */
    static final class PlannedBuffers {
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
}
