// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.Convention;
import io.kiln.artifact.DeviceHooks;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelMetadata.Interface;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.compile.CompiledModel.Choices;
import io.kiln.compile.LibraryMetadata.PlannedBuffers;
import io.kiln.compile.LibraryMetadata.TensorDescriptions;
import io.kiln.executor.PlannedModule;
import io.kiln.executor.aot.AotExecution;
import io.kiln.ir.Function;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.call.ControlFlow.If;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Callee;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Rows;
import io.kiln.memory.MemoryProblem.PoolBounds;
import io.kiln.memory.MemoryProblem.WorkspaceBuffer;
import io.kiln.partition.ExternalFunction;
import io.kiln.partition.ExternalModule;
import io.kiln.partition.Externals;
import io.kiln.schedule.Dispatch;
import io.kiln.schedule.GoalMix;
import io.kiln.schedule.LayerChoices;
import io.kiln.schedule.LayerGoal;
import io.kiln.schedule.OnlyConvolution;
import io.kiln.stream.PlanChoice;
import io.kiln.stream.Program.PlannedProgram;
import io.kiln.stream.Program.StoredValue;
import io.kiln.stream.Program.StoredValue.Place;
import io.kiln.stream.ProgramPools;
import io.kiln.stream.ProgramPools.WorkspaceLayout;
import io.kiln.stream.StreamPlanner;
import io.kiln.stream.StreamPlanner.Lowering;
import io.kiln.stream.StreamPlanner.Planned;
import io.kiln.target.MemoryPool;
import io.kiln.target.SpareRam;
import io.kiln.target.SpareRam.RamShare;
import io.kiln.target.Target;
import io.kiln.tir.Buffer;
import io.kiln.tuning.task.ProgramTask;
import io.kiln.tuning.task.RecordedChoices;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Lowers the operators of a fused function, orders them and plans their memory. */
final class ModulePlanner {
    private final CompileRequest request;
    private final Target target;
    private final CallOptions calls;
    private final Optimize optimize;
    private final Optional<GoalMix> mix;
    private final Externals externals;
    private final CodeOrigin origin;
    private final List<ExternalFunction> external = new ArrayList<>();
    private final RecordedChoices records;
    private final Map<String, Set<String>> readers = new HashMap<>();
    private Optional<Planned> main = Optional.empty();
    private Optional<PlanChoice> recorded = Optional.empty();

    ModulePlanner(CompileRequest request) {
        this.request = request;
        this.target = request.target().host();
        this.calls = request.calls();
        this.optimize = request.options().optimize();
        this.mix = request.options().mix();
        this.externals = request.target().externals();
        this.origin = new CodeOrigin(
                String.valueOf(request.model().file().getFileName()),
                target,
                request.options().portable());
        this.records = new RecordedChoices(request.records(), target, optimize);
    }

    /** The model's own function. */
    PlannedModule plan(Function fused) {
        return module(request.model().name(), fused, calls.io(), false);
    }

    /** A function planned and lowered, after the functions that its operators call. */
    private PlannedModule module(String name, Function fused, Io io, boolean called) {
        List<Callee> callees = new ArrayList<>();
        for (Function function : fused.functions()) {
            String own = name + "_" + callees.size();
            callees.add(AotExecution.callee(module(own, function, Io.CALLER, true)));
        }
        InterfaceNames names = new InterfaceNames(name);
        List<FusedOperator> operators = FusedOperator.all(fused, names.prefix()).stream()
                .filter(op -> !op.root().op().has(Trait.VIEW))
                .toList();
        LayerChoices choices = records.or(OnlyConvolution.of(operators, optimize, target.features()));
        Map<String, LayerGoal> goals = mix.map(GoalMix::layers).orElseGet(Collections::emptySortedMap);
        Dispatch dispatch = new Dispatch(target, optimize, callees, choices, goals);
        ExternalModule outside = ExternalModule.of(externals, fused, names.prefix());
        OperatorTargets targets = new OperatorTargets(operators, outside, externals, external);
        external.addAll(outside.functions());
        Dispatch spare = new Dispatch(target, Optimize.RAM, callees, LayerChoices.RULES);
        Lowering lowering = (op, rows) -> outside.takes(op) ? outside.lower(op, rows) : dispatch.lower(op, rows);
        Lowering sparing = (op, rows) -> outside.takes(op) ? outside.lower(op, rows) : spare.lower(op, rows);
        List<MemoryPool> pools = pools(called);
        ProgramPools places = new ProgramPools(pools, targets::of, forRows(operators));
        Planned program = new Planned(fused, operators, lowering.remembering(), io == Io.WORKSPACE, places);
        PlannedProgram planned = planned(program, sparing, called);
        TensorDescriptions tensors = TensorDescriptions.of(fused);
        new PoolFit(request.model().name(), pools, planned, PlannedBuffers.names(planned.program(), tensors))
                .require(io);
        planned.program()
                .operators()
                .forEach(operator -> readers.put(operator.function().name(), targets.of(operator.output())));
        Interface api = new Interface(
                calls.executor(), convention(), io, tensors.inputs(), tensors.outputs(), List.of(), devices(planned));
        return new PlannedModule(
                origin, names, new PlannedModule.Calling(api, calls.packed(), called), pools, planned, callees);
    }

    /** What the board has to spare for several rows in a call, unless the build says how much RAM weights take. */
    private long forRows(List<FusedOperator> operators) {
        SpareRam spare = request.target().pools().spare();
        return request.options().ram().weights().kind() == RamShare.Kind.AUTO
                ? spare.forRows(canCopy(operators, spare.share()))
                : 0;
    }

    /** Whether layers with weights that fit some bytes do half of the multiply-accumulates, or more. */
    private static boolean canCopy(List<FusedOperator> operators, long bytes) {
        long all = 0;
        long ofFitting = 0;
        for (FusedOperator op : operators) {
            long macs = op.root().macs();
            Shape shape = op.root().type().shape();
            boolean fits = macs == 0 || macs / (shape.elements() / shape.dim(-1)) <= bytes;
            all += macs;
            ofFitting += fits ? macs : 0;
        }
        return 2 * ofFitting >= all;
    }

    /** With less scratch where speed alone would take much memory for it. */
    private PlannedProgram planned(Planned program, Lowering sparing, boolean called) {
        PlannedProgram planned = planned(program, called);
        Set<String> crowded =
                optimize == Optimize.SPEED && mix.isEmpty() ? crowded(program, sparing, planned) : Set.of();
        return crowded.isEmpty()
                ? planned
                : planned(
                        program.with((op, rows) ->
                                (crowded.contains(op.name()) ? sparing : program.lowering()).lower(op, rows)),
                        called);
    }

    /** By the record of the whole model, if there is one that fits. */
    private PlannedProgram planned(Planned program, boolean called) {
        if (called || calls.executor() != ExecutorKind.AOT) {
            return StreamPlanner.plan(program, order(called));
        }
        main = Optional.of(program);
        if (mix.isPresent()) {
            return StreamPlanner.plan(program, mix.get().plan());
        }
        ProgramTask task = new ProgramTask(program.function(), target, optimize, calls.io());
        Optional<PlanChoice> choice = records.plan(task);
        Optional<PlannedProgram> chosen = choice.flatMap(each -> StreamPlanner.plan(program, each));
        if (choice.isPresent() && chosen.isEmpty()) {
            records.unfitPlan(task);
        }
        recorded = chosen.flatMap(each -> choice);
        return chosen.orElseGet(() -> StreamPlanner.plan(program, order(false)));
    }

    /** A function that operators call gets its workspace from them; what operators get by name is in one piece, too. */
    private List<MemoryPool> pools(boolean called) {
        List<MemoryPool> all = request.target().pools().workspace();
        if (!called && calls.executor() == ExecutorKind.AOT) {
            return all;
        }
        MemoryPool last = all.get(all.size() - 1);
        return List.of(new MemoryPool(last.name(), last.alignment()));
    }

    /**
     * The devices that operators, and the functions that they call, run on.
     *
     * @throws KilnException if programs have no way to pass their contexts
     */
    private List<DeviceHooks> devices(PlannedProgram planned) {
        Set<String> contexts = planned.program().operators().stream()
                .flatMap(operator -> operator.function().buffers().stream())
                .filter(buffer -> buffer.scope() == Buffer.Scope.DEVICE)
                .map(Buffer::name)
                .collect(Collectors.toSet());
        List<DeviceHooks> devices = externals.names().stream()
                .map(DeviceHooks::of)
                .filter(device -> contexts.contains(device.context()))
                .sorted(Comparator.comparing(DeviceHooks::device))
                .toList();
        if (!devices.isEmpty() && (calls.executor() != ExecutorKind.AOT || convention() != Convention.TYPED)) {
            throw Failure.TARGET.exception(
                    "the device " + devices.get(0).device()
                            + " needs a context, which only the C interface of the AOT executor passes",
                    "model `" + request.model().name() + "`",
                    "kiln.executor aot and kiln.interfaceApi c",
                    "Set them, or take the code generator out of kiln.target");
        }
        return devices;
    }

    /** The functions of other code generators in the model and the functions that it calls; complete after {@link #plan}. */
    List<ExternalFunction> external() {
        return List.copyOf(external);
    }

    /** Keys of the targets that read each operator's tables, by the name of its function; complete after {@link #plan}. */
    Map<String, Set<String>> readers() {
        return Map.copyOf(readers);
    }

    /** How the model's own function was planned; complete after {@link #plan}. */
    Choices choices() {
        return new Choices(main, recorded, records.unfit());
    }

    /** Operators that are called by their names run whole. */
    private Optimize order(boolean called) {
        return called || calls.executor() == ExecutorKind.AOT ? optimize : Optimize.SIZE;
    }

    private Convention convention() {
        return calls.executor() == ExecutorKind.AOT ? calls.convention() : Convention.PACKED;
    }

    /** Keys of the targets that read and write what operators take, by the id that each computes. */
    private static final class OperatorTargets {
        private static final Set<String> CORE = Set.of(Artifact.HOST);

        private final Map<Integer, Set<String>> byOutput = new HashMap<>();

        /**
         * The targets of a function's operators.
         *
         * @param called functions of other code generators within the functions that the operators call
         */
        OperatorTargets(
                List<FusedOperator> operators,
                ExternalModule outside,
                Externals externals,
                Collection<ExternalFunction> called) {
            Set<String> callers = new TreeSet<>(CORE);
            called.forEach(function -> callers.add(externals.targetKey(function)));
            for (FusedOperator operator : operators) {
                Op op = operator.root().op();
                boolean calls = op instanceof If || op instanceof While;
                byOutput.put(
                        operator.output(),
                        outside.takes(operator) ? Set.of(outside.targetKey(operator)) : calls ? callers : CORE);
            }
        }

        /** The targets of the operator that computes a value. */
        Set<String> of(int output) {
            return byOutput.getOrDefault(output, CORE);
        }
    }

    /**
     * Whether the memories of a board hold what a program needs, where its targets reach it.
     *
     * @param model name of the model
     * @param pools its memories
     * @param planned the program
     * @param names of its buffers, for people
     */
    private record PoolFit(String model, List<MemoryPool> pools, PlannedProgram planned, Map<String, String> names) {
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
                boolean isOutside =
                        value.place() == Place.STATE || (io == Io.CALLER && value.place() != Place.WORKSPACE);
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
                    "`" + name + "` (" + buffer.bytes() + " bytes) is read or written by "
                            + String.join(" and ", targets)
                            + (reached.isEmpty()
                                    ? ", and no memory of the workspace is reached by "
                                            + (targets.size() == 1 ? "it" : "all of them")
                                    : ", and there is no room for it in "
                                            + reached.stream()
                                                    .map(MemoryPool::text)
                                                    .collect(Collectors.joining(", "))),
                    where(),
                    "a memory with room that " + reached(targets) + "; there are " + memories,
                    reached.isEmpty() ? "Add one to pools.workspace of the board, or correct its targets" : MORE);
        }

        private Problem outside(StoredValue value, Set<String> targets, MemoryPool variables) {
            String buffer = WorkspaceLayout.valueName(value.id());
            boolean isState = value.place() == Place.STATE;
            return Failure.TARGET.problem(
                    "`" + names.getOrDefault(buffer, buffer) + "` is read or written by "
                            + String.join(" and ", targets)
                            + ", and lies with "
                            + (isState ? "the variables" : "the caller's variables") + " in " + variables.text(),
                    where(),
                    "a memory that " + reached(targets),
                    isState
                            ? "Let the last memory of pools.workspace be one that all of them reach"
                            : "Plan inputs and outputs with kiln.io=workspace, or let the last memory of"
                                    + " pools.workspace be one that all of them reach");
        }

        private static String reached(Set<String> targets) {
            return String.join(" and ", targets) + (targets.size() == 1 ? " reaches" : " reach");
        }

        private String where() {
            return "model `" + model + "`";
        }
    }

    private static final int ALIGNMENT = 16;

    /**
     * The names of their functions.
     *
     * @param sparing makes loops with the least scratch
     */
    private static Set<String> crowded(Planned program, Lowering sparing, PlannedProgram planned) {
        List<LoweredOperator> operators = planned.program().operators();
        long[] tensors = new long[operators.size()];
        planned.program().values().stream()
                .filter(value -> value.place() == Place.WORKSPACE || program.withInputsAndOutputs())
                .forEach(value -> addTo(value, tensors));
        long bytes = planned.layout().plan().bytes();
        if (bytes <= LongStream.of(tensors).max().orElse(0)) {
            return Set.of();
        }
        Map<String, FusedOperator> byName =
                program.operators().stream().collect(Collectors.toMap(FusedOperator::name, op -> op));
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

    private static void addTo(StoredValue value, long[] tensors) {
        int last = value.place() == Place.OUTPUT ? tensors.length - 1 : Math.min(value.lastStep(), tensors.length - 1);
        for (int i = Math.max(0, value.firstStep()); i <= last; i++) {
            tensors[i] += aligned(value.type().bytes());
        }
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
